#include <gtest/gtest.h>

#include <cmath>

#include "posgeom/geometry/mds.hpp"

namespace posgeom {
namespace {

TEST(Spectrum, EqualEigenvaluesHaveFullEffectiveRank) {
  const Spectrum s = spectrum_of({2, 2, 2, 2, 1e-17, -1e-17}, 8, 1e-10, 0);
  EXPECT_EQ(s.rank, 4);
  EXPECT_NEAR(s.entropy_rank, 4, 1e-14);
  EXPECT_NEAR(s.participation_ratio, 4, 1e-14);
  EXPECT_EQ(s.dims_90, 4);
}

TEST(Spectrum, SharesOfTheTrace) {
  const Spectrum s = spectrum_of({90, 5, 4, 1}, 100, 1e-10, 0);
  EXPECT_EQ(s.dims_90, 1);
  EXPECT_EQ(s.dims_95, 2);
  EXPECT_EQ(s.dims_99, 3);
  EXPECT_NEAR(s.participation_ratio, 100.0 * 100 / (8100 + 25 + 16 + 1), 1e-12);
  EXPECT_NEAR(s.entropy_rank, std::exp(-(0.9 * std::log(0.9) + 0.05 * std::log(0.05) + 0.04 * std::log(0.04) + 0.01 * std::log(0.01))),
              1e-12);
}

TEST(Spectrum, OfZeroIsZero) {
  const Spectrum s = spectrum_of({1e-33, 0, -1e-33}, 0, 1e-10, 1e-30);
  EXPECT_EQ(s.rank, 0);
  EXPECT_EQ(s.entropy_rank, 0);
  EXPECT_EQ(s.participation_ratio, 0);
  EXPECT_EQ(s.dims_99, 0);
}

TEST(NotUnique, IsWhereTheCutEigenvalueIsTied) {
  const Spectrum s = spectrum_of({3, 2, 2, 1, 0}, 8, 1e-10, 0);
  EXPECT_FALSE(not_unique(s, 1));
  EXPECT_TRUE(not_unique(s, 2));
  EXPECT_FALSE(not_unique(s, 3));
  EXPECT_FALSE(not_unique(s, 4)) << "d = rank";
  EXPECT_FALSE(not_unique(s, 5));
  EXPECT_FALSE(not_unique(spectrum_of({1, 5e-9, 0}, 1, 1e-10, 0), 2)) << "nothing is cut at the rank, however small its eigenvalue";
}

TEST(FixSign, LowestIndexAmongTheLargestIsPositive) {
  std::vector<double> a{0.5, -1, 1};
  fix_sign(a);
  EXPECT_EQ(a, (std::vector<double>{-0.5, 1, -1}));
  std::vector<double> b{-1 + 5e-7, 1, 0};
  fix_sign(b);
  EXPECT_GT(b[0], 0) << "within 1e-6 of the largest";
  std::vector<double> c{-1 + 5e-6, 1, 0};
  fix_sign(c);
  EXPECT_LT(c[0], 0);
  std::vector<double> zero{0, 0};
  fix_sign(zero);
  EXPECT_EQ(zero[0], 0);
}

}  // namespace
}  // namespace posgeom
