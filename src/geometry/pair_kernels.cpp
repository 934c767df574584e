#include "geometry/pair_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

constexpr Index anchors = 16;
constexpr Index group = 4;   ///< anchors whose sums are in registers together
constexpr Index lanes = 8;   ///< rows j likewise
constexpr Index depth = 64;  ///< columns for which the anchors' values are packed at a time

}  // namespace

POSGEOM_SIMD static void add_packed(const double* x, Index rows, const double* packed, Index count, Index j_begin, Index columns,
                                    double* squared, Index stride) {
  Index j = j_begin;
  for (; j + lanes <= rows; j += lanes) {
    for (Index r = 0; r < count; r += group) {
      double sum[group][lanes];
      for (Index a = 0; a < group; ++a) {
        for (Index l = 0; l < lanes; ++l) sum[a][l] = squared[(r + a) * stride + j - j_begin + l];
      }
      for (Index k = 0; k < columns; ++k) {
        const double* values = x + k * rows + j;
        const double* anchor = packed + k * anchors + r;
        for (Index a = 0; a < group; ++a) {
          for (Index l = 0; l < lanes; ++l) {
            const double difference = anchor[a] - values[l];
            sum[a][l] += difference * difference;
          }
        }
      }
      for (Index a = 0; a < group; ++a) {
        for (Index l = 0; l < lanes; ++l) squared[(r + a) * stride + j - j_begin + l] = sum[a][l];
      }
    }
  }
  for (; j < rows; ++j) {
    for (Index r = 0; r < count; ++r) {
      double sum = squared[r * stride + j - j_begin];
      for (Index k = 0; k < columns; ++k) {
        const double difference = packed[k * anchors + r] - x[k * rows + j];
        sum += difference * difference;
      }
      squared[r * stride + j - j_begin] = sum;
    }
  }
}

void add_squared_differences(const double* x, Index rows, Index first, Index count, Index j_begin, Index k_begin, Index k_end,
                             double* squared, Index stride) {
  expects(count <= anchors && j_begin % lanes == 0, "a block of anchors and an aligned first row");
  double packed[depth * anchors];
  const Index padded = (count + group - 1) / group * group;
  for (Index k = k_begin; k < k_end; k += depth) {
    const Index columns = std::min(depth, k_end - k);
    for (Index c = 0; c < columns; ++c) {
      // Lanes beyond the last anchor repeat it: their sums are never read.
      for (Index r = 0; r < padded; ++r) packed[c * anchors + r] = x[(k + c) * rows + first + std::min(r, count - 1)];
    }
    add_packed(x + k * rows, rows, packed, padded, j_begin, columns, squared, stride);
  }
}

POSGEOM_SIMD PairMoments pair_moments(const double* squared, const double* h, Index count, double shift, double mean_h) {
  double shifted[lanes] = {};
  double shifted_squared[lanes] = {};
  double cross[lanes] = {};
  double square[lanes] = {};
  double product[lanes] = {};
  double residual[lanes] = {};
  PairMoments moments;
  for (Index begin = 0; begin < count; begin += lanes) {
    const Index width = std::min(lanes, count - begin);
    double d[lanes];
    for (Index l = 0; l < width; ++l) {
      d[l] = std::sqrt(squared[begin + l]);
      moments.smallest = std::min(moments.smallest, d[l]);
      moments.largest = std::max(moments.largest, d[l]);
    }
    const auto add = [&](Index l) {
      const double hellinger = h[begin + l];
      const double centred = d[l] - shift;
      const double difference = d[l] - hellinger;
      shifted[l] += centred;
      shifted_squared[l] += centred * centred;
      cross[l] += centred * (hellinger - mean_h);
      square[l] += d[l] * d[l];
      product[l] += d[l] * hellinger;
      residual[l] += difference * difference;
    };
    if (width == lanes) {
      for (Index l = 0; l < lanes; ++l) add(l);
    } else {
      for (Index l = 0; l < width; ++l) add(l);
    }
  }
  for (Index l = 0; l < lanes; ++l) {
    moments.shifted += shifted[l];
    moments.shifted_squared += shifted_squared[l];
    moments.cross += cross[l];
    moments.squared += square[l];
    moments.product += product[l];
    moments.residual += residual[l];
  }
  return moments;
}

}  // namespace posgeom
