#include <gtest/gtest.h>

#include "linalg/matrices.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

TEST(DenseEigh, EveryFamilyAndOrder) {
  for (const test::Family& family : test::families()) {
    for (const Index n : {1, 2, 3, 7, 33, 64, 100}) {
      SCOPED_TRACE(testing::Message() << family.name << " " << n);
      const std::vector<double> a = test::dense(family, n);
      const DenseEigenpairs pairs = dense_eigh(a, n);
      ASSERT_EQ(std::ssize(pairs.values), n);
      EXPECT_TRUE(std::is_sorted(pairs.values.rbegin(), pairs.values.rend()));
      const double norm = std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
      const test::Deviation worst = test::deviation(a, pairs.values, pairs.vectors, n);
      const double tolerance = static_cast<double>(n + 10) * test::eps;
      EXPECT_LE(worst.residual, tolerance * norm);
      EXPECT_LE(worst.orthogonality, tolerance);
      if (!family.spectrum) continue;
      std::vector<double> exact = family.spectrum(n);
      std::ranges::sort(exact, std::greater{});
      for (std::size_t k = 0; k < exact.size(); ++k)
        EXPECT_NEAR(pairs.values[k], exact[k], tolerance * std::max(exact.front(), -exact.back()));
    }
  }
}

TEST(DenseEigh, NothingGivesNothing) {
  const DenseEigenpairs pairs = dense_eigh({}, 0);
  EXPECT_TRUE(pairs.values.empty() && pairs.vectors.empty());
}

TEST(DenseEigh, RefusesWhatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    try {
      dense_eigh({1, 0, bad, 1}, 2);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("element (0, 1)"), std::string::npos) << error.what();
    }
  }
}

TEST(DenseEigh, RefusesAMatrixThatIsNotSymmetric) { EXPECT_THROW(dense_eigh({1, 0, 5, 1}, 2), Error); }

TEST(MeasureBlas, SaysSomethingPlausible) {
  const BlasReport report = measure_blas();
  EXPECT_FALSE(report.name.empty());
  EXPECT_GT(report.dgemm_flops, 1e7);
  EXPECT_LT(report.dgemm_flops, 1e14);
  RecordProperty("blas", report.name);
  RecordProperty("gflops", std::to_string(report.dgemm_flops * 1e-9));
}

}  // namespace
}  // namespace posgeom
