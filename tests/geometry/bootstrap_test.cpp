#include "posgeom/geometry/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace posgeom {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> downwards(int count) {
  std::vector<double> values;
  for (int k = count; k >= 1; --k) values.push_back(k);
  return values;
}

TEST(Intervals, AreOrderStatistics) {
  struct Case {
    int replicates;
    double alpha, low, high;
  };
  // k = floor((R + 1) alpha / 2)
  for (const Case& c : {Case{39, 0.05, 1, 39},
                        {79, 0.05, 2, 78},
                        {99, 0.05, 2, 98},
                        {199, 0.05, 5, 195},
                        {19, 0.1, 1, 19},
                        {10, 0.01, 1, 10},
                        {1, 0.5, 1, 1},
                        {999, 0.1, 50, 950}}) {
    const Interval found = percentile_interval(downwards(c.replicates), c.alpha);
    EXPECT_EQ(found.low, c.low) << c.replicates << " " << c.alpha;
    EXPECT_EQ(found.high, c.high) << c.replicates << " " << c.alpha;
  }
}

TEST(Intervals, LeaveUndefinedReplicatesOut) {
  std::vector<double> values = downwards(39);
  values.insert(values.begin() + 5, nan);
  EXPECT_EQ(percentile_interval(values, 0.05).high, 39);
  EXPECT_TRUE(std::isnan(percentile_interval(std::vector<double>{nan, nan}, 0.05).low));
  EXPECT_TRUE(std::isnan(percentile_interval({}, 0.05).high));
}

TEST(Intervals, TheBasicOneIsMirroredAtTheEstimate) {
  const Interval basic = basic_interval(10, {11, 14});
  EXPECT_EQ(basic.low, 6);
  EXPECT_EQ(basic.high, 9);
}

TEST(Rankings, BestAndModal) {
  // [4 replicates][3 encodings][2 dimensions]; at the second dimension encoding 1 is undefined, and ties go to the earlier encoding.
  const std::vector<double> values{1, 5, 2, nan, 3, 5,   //
                                   2, 1, 1, nan, 3, 2,   //
                                   1, 9, 2, nan, 3, 8,   //
                                   1, 2, 2, nan, 3, 3};  //
  const Rankings rankings = rank_encodings(values, 4, 3, 2);
  EXPECT_EQ(rankings.best, (std::vector<double>{0.75, 0.75, 0.25, 0, 0, 0.25}));
  EXPECT_EQ(rankings.modal_rank, (std::vector<std::int32_t>{1, 1, 2, 0, 3, 2}));
  EXPECT_EQ(rankings.modal_share, (std::vector<double>{0.75, 0.75}));
}

TEST(Rankings, NothingDefinedIsNotRanked) {
  const Rankings rankings = rank_encodings(std::vector<double>{nan, nan}, 1, 2, 1);
  EXPECT_EQ(rankings.best, (std::vector<double>{0, 0}));
  EXPECT_EQ(rankings.modal_rank, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(rankings.modal_share, (std::vector<double>{0}));
}

}  // namespace
}  // namespace posgeom
