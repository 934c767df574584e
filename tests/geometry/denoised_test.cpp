#include "posgeom/geometry/denoised.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "posgeom/geometry/projection.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

const std::vector<std::int32_t> positions{0, 1, 3, 4, 7, 8, 11, 12, 13, 20, 22};
const auto m = static_cast<Index>(positions.size());

/// Squared distances, some of them negative.
double squared_distance(Index i, Index j) {
  const auto lag = static_cast<double>(std::abs(i - j));
  return i == j ? 0.0 : 0.3 * std::log1p(lag) + 0.5 * std::sin(static_cast<double>(3 * i * j + i + j));
}

Coordinates some_coordinates(Index rows, Index columns) {
  Coordinates x;
  x.rows = rows;
  x.columns = x.stored = columns;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) x.values.push_back(std::cos(static_cast<double>(5 * i + 7 * j)));
  }
  return x;
}

struct Expected {
  double raw = 0, scaled = 0;
};

/// By the definition; distance(i, j).
template <class Distance>
Expected expected(Distance&& distance) {
  double squared = 0, cross = 0, residual = 0, h_squared = 0;
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double h = std::sqrt(std::max(0.0, squared_distance(i, j)));
      const double d = distance(i, j);
      squared += d * d;
      cross += d * h;
      residual += (d - h) * (d - h);
      h_squared += h * h;
    }
  }
  return {residual / h_squared, 1 - cross * cross / (squared * h_squared)};
}

TEST(Denoised, StressOfCoordinatesAndKernels) {
  const Communicator comm = Communicator::world();
  for (const Index block : {2, 3, 64}) {
    DistributedMatrix squared(ProcessGrid::nearest_square(comm), m, m, block);
    fill(squared, squared_distance);
    const Coordinates x = some_coordinates(m, 4);
    Coordinates zeros = x;
    zeros.zero_beyond = true;
    const std::vector<StressRequest> requests{{{"x", x}, {1, 3, 5}},
                                              {{"z", zeros}, {4, 6}},
                                              {{"linear", linear_encoding(30)}, {1, 2}},
                                              {{"sinusoidal", sinusoidal_encoding()}, {3, 4}}};
    const DenoisedScores scores = denoised_stress(squared, positions, requests);
    const auto of_columns = [&](Index columns) {
      return expected([&](Index i, Index j) {
        double sum = 0;
        for (Index c = 0; c < columns; ++c) {
          const double difference = x.values[static_cast<std::size_t>(i + c * m)] - x.values[static_cast<std::size_t>(j + c * m)];
          sum += difference * difference;
        }
        return std::sqrt(sum);
      });
    };
    const auto expect = [&](std::size_t request, std::size_t k, const Expected& value) {
      EXPECT_NEAR(scores.columns[request].raw[k], value.raw, 1e-12 * std::max(1.0, value.raw)) << request << " " << k;
      EXPECT_NEAR(scores.columns[request].scaled[k], value.scaled, 1e-12) << request << " " << k;
    };
    expect(0, 0, of_columns(1));
    expect(0, 1, of_columns(3));
    EXPECT_TRUE(std::isnan(scores.columns[0].raw[2])) << "beyond its columns";
    expect(1, 0, of_columns(4));
    expect(1, 1, of_columns(4));
    const auto lag = [&](Index i, Index j) {
      return static_cast<double>(positions[static_cast<std::size_t>(j)] - positions[static_cast<std::size_t>(i)]);
    };
    for (const std::size_t k : {0, 1}) expect(2, k, expected([&](Index i, Index j) { return lag(i, j) / 30; }));
    EXPECT_TRUE(std::isnan(scores.columns[3].raw[0])) << "odd";
    expect(3, 1, expected([&](Index i, Index j) { return std::sqrt(4 - 2 * std::cos(lag(i, j)) - 2 * std::cos(lag(i, j) / 100)); }));
    double sum = 0, sum_squared = 0;
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < j; ++i) {
        sum += std::sqrt(std::max(0.0, squared_distance(i, j)));
        sum_squared += std::max(0.0, squared_distance(i, j));
      }
    }
    const double pairs = static_cast<double>(m) * static_cast<double>(m - 1) / 2;
    EXPECT_NEAR(scores.constant_baseline, 1 - sum * sum / (pairs * sum_squared), 1e-12);
  }
}

/// More positions than a tile has rows and columns, in blocks that are cut into tiles, or are none of a tile's size.
TEST(Denoised, ManyTiles) {
  const Communicator comm = Communicator::world();
  constexpr Index rows = 290;
  std::vector<std::int32_t> many;
  for (Index i = 0; i < rows; ++i) many.push_back(static_cast<std::int32_t>(i + i / 7));
  const Coordinates x = some_coordinates(rows, 5);
  const auto distance = [&](Index i, Index j) {
    double sum = 0;
    for (Index c = 0; c < 5; ++c) {
      const double difference = x.values[static_cast<std::size_t>(i + c * rows)] - x.values[static_cast<std::size_t>(j + c * rows)];
      sum += difference * difference;
    }
    return std::sqrt(sum);
  };
  for (const Index block : {40, 64, 200, 512}) {
    DistributedMatrix squared(ProcessGrid::nearest_square(comm), rows, rows, block);
    fill(squared, squared_distance);
    const DenoisedScores scores = denoised_stress(squared, many, {{{"x", x}, {2, 5}}, {{"linear", linear_encoding(400)}, {1}}});
    double residual = 0, lag_residual = 0, h_squared = 0;
    for (Index j = 0; j < rows; ++j) {
      for (Index i = 0; i < j; ++i) {
        const double h = std::sqrt(std::max(0.0, squared_distance(i, j)));
        const double lag = static_cast<double>(many[static_cast<std::size_t>(j)] - many[static_cast<std::size_t>(i)]) / 400;
        residual += (distance(i, j) - h) * (distance(i, j) - h);
        lag_residual += (lag - h) * (lag - h);
        h_squared += h * h;
      }
    }
    EXPECT_NEAR(scores.columns[0].raw[1], residual / h_squared, 1e-12 * residual / h_squared) << block;
    EXPECT_NEAR(scores.columns[1].raw[0], lag_residual / h_squared, 1e-12 * lag_residual / h_squared) << block;
  }
}

TEST(Denoised, UndefinedCases) {
  const Communicator comm = Communicator::world();
  const DistributedMatrix zero(ProcessGrid::nearest_square(comm), m, m, 2);
  Coordinates nothing;
  nothing.rows = m;
  nothing.zero_beyond = true;
  const DenoisedScores scores = denoised_stress(zero, positions, {{{"nothing", nothing}, {2}}, {{"linear", linear_encoding(30)}, {2}}});
  EXPECT_EQ(scores.columns[0].raw[0], 0);
  EXPECT_TRUE(std::isnan(scores.columns[0].scaled[0]));
  EXPECT_TRUE(std::isinf(scores.columns[1].raw[0]));
  EXPECT_TRUE(std::isnan(scores.constant_baseline));
}

TEST(KeptRows, AreThoseOfThePositions) {
  SquareRootDistributions s;
  s.length = 9;
  s.column_count = 3;
  s.position = {1, 4, 6, 8};
  s.total = {5, 7, 9, 0};
  s.row_begin = {0, 2, 0, 3};  // the third shares the first's entries
  s.row_end = {2, 3, 2, 6};
  s.column = {0, 2, 1, 0, 1, 2};
  s.value = {0.6, 0.8, 1, 0.1, 0.2, 0.3};
  const std::vector<std::int32_t> wanted{4, 6};
  const SquareRootDistributions kept = kept_rows(s, wanted);
  EXPECT_EQ(kept.position, wanted);
  EXPECT_EQ(kept.total, (std::vector<Count>{7, 9}));
  EXPECT_EQ(kept.length, 9);
  EXPECT_EQ(kept.column_count, 3);
  EXPECT_EQ(kept.column, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(kept.value, (std::vector<double>{1, 0.6, 0.8}));
  EXPECT_EQ(kept.row_begin, (std::vector<Index>{0, 1}));
  EXPECT_EQ(kept.row_end, (std::vector<Index>{1, 3}));
  const Coordinates x = some_coordinates(4, 2);
  const Coordinates rows = kept_rows(x, s.position, wanted);
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(rows.values, (std::vector<double>{x.values[1], x.values[2], x.values[5], x.values[6]}));
  EXPECT_THROW(kept_rows(s, std::vector<std::int32_t>{5}), std::logic_error);
}

TEST(Projection, QueryAndKeyOfEachHead) {
  constexpr Index rows = 5, in = 3, out = 4;
  std::vector<double> p(rows * in), q(out * in), k(out * in);
  for (std::size_t e = 0; e < p.size(); ++e) p[e] = std::sin(static_cast<double>(e) + 1);
  for (std::size_t e = 0; e < q.size(); ++e) q[e] = std::cos(static_cast<double>(2 * e)), k[e] = std::sin(static_cast<double>(3 * e) - 2);
  const ProjectionWeight query{out, in, q}, key{out, in, k};
  const auto at = [](std::span<const double> a, Index i, Index j, Index columns) { return a[static_cast<std::size_t>(i * columns + j)]; };
  for (const Index heads : {1, 2, 4}) {
    for (Index head = 0; head < heads; ++head) {
      const ProjectionWeight q_h = head_of(query, head, heads), k_h = head_of(key, head, heads);
      const Coordinates y = projected_encoding(p, rows, q_h, nullptr);
      const Coordinates z = projected_encoding(p, rows, q_h, &k_h);
      ASSERT_EQ(y.columns, out / heads);
      ASSERT_EQ(z.columns, in);
      EXPECT_TRUE(y.whole && z.whole);
      for (Index i = 0; i < rows; ++i) {
        std::vector<double> seen(static_cast<std::size_t>(out / heads));
        for (Index o = 0; o < out / heads; ++o) {
          for (Index c = 0; c < in; ++c) seen[static_cast<std::size_t>(o)] += at(p, i, c, in) * at(q, head * out / heads + o, c, in);
          EXPECT_NEAR(y.values[static_cast<std::size_t>(i + o * rows)], seen[static_cast<std::size_t>(o)], 1e-14);
        }
        for (Index c = 0; c < in; ++c) {
          double sum = 0;
          for (Index o = 0; o < out / heads; ++o) sum += seen[static_cast<std::size_t>(o)] * at(k, head * out / heads + o, c, in);
          EXPECT_NEAR(z.values[static_cast<std::size_t>(i + c * rows)], sum, 1e-14);
        }
      }
    }
  }
  EXPECT_THROW(head_of(query, 0, 3), std::logic_error);
}

}  // namespace
}  // namespace posgeom
