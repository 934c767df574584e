#include "posgeom/geometry/projection.hpp"

#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

void check(const ProjectionWeight& weight) { expects(std::ssize(weight.values) == weight.out * weight.in, "a whole weight matrix"); }

}  // namespace

Coordinates projected_encoding(std::span<const double> p, Index rows, const ProjectionWeight& query, const ProjectionWeight* key) {
  check(query);
  expects(std::ssize(p) == rows * query.in, "an encoding as wide as the query takes");
  // Row-major arrays are the transposed ones by columns, as multiply_local() reads them.
  std::vector<double> y(static_cast<std::size_t>(rows * query.out));
  multiply_local({.m = rows, .n = query.out, .k = query.in, .transpose_a = true}, p.data(), query.values.data(), 0, y.data());
  Index columns = query.out;
  if (key != nullptr) {
    check(*key);
    expects(key->out == query.out, "query and key of one width");
    columns = key->in;
    std::vector<double> z(static_cast<std::size_t>(rows * columns));
    multiply_local({.m = rows, .n = columns, .k = key->out, .transpose_b = true}, y.data(), key->values.data(), 0, z.data());
    y = std::move(z);
  }
  Coordinates x;
  x.rows = rows;
  x.columns = x.stored = columns;
  x.whole = true;
  x.values = std::move(y);
  return x;
}

ProjectionWeight head_of(const ProjectionWeight& weight, Index head, Index heads) {
  check(weight);
  expects(heads >= 1 && weight.out % heads == 0 && head >= 0 && head < heads, "one of heads that share the rows");
  const Index rows = weight.out / heads;
  return {rows, weight.in,
          weight.values.subspan(static_cast<std::size_t>(head * rows * weight.in), static_cast<std::size_t>(rows * weight.in))};
}

}  // namespace posgeom
