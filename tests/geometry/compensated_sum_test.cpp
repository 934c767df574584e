#include "geometry/compensated_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace posgeom {
namespace {

/// Numbers of very different sizes whose sum is far smaller than they are.
std::vector<double> hard_numbers() {
  std::vector<double> numbers;
  for (int k = 0; k < 60; ++k) {
    numbers.push_back(std::ldexp(1.0 + k * 1e-3, k % 40));
    numbers.push_back(1.0 / (k + 3));
  }
  for (int k = 0; k < 60; ++k) numbers.push_back(-std::ldexp(1.0 + k * 1e-3, k % 40));
  return numbers;
}

TEST(CompensatedSum, KeepsWhatAPlainSumLoses) {
  CompensatedSum sum;
  for (const double x : {1.0, 1e100, 1.0, -1e100}) sum.add(x);
  EXPECT_EQ(sum.value(), 2.0);
}

TEST(CompensatedSum, DoesNotShowHowTheNumbersWereDealt) {
  const Communicator comm = Communicator::world();
  const std::vector<double> numbers = hard_numbers();
  CompensatedSum alone;
  for (const double x : numbers) alone.add(x);
  long double expected = 0;  // the large ones cancel exactly
  for (int k = 0; k < 60; ++k) expected += 1.0L / (k + 3);
  EXPECT_NEAR(alone.value(), static_cast<double>(expected), 1e-15);
  std::vector<CompensatedSum> dealt(3);  // the same three times, so that a piece holds several
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (static_cast<int>(k) % comm.size() != comm.rank()) continue;
    for (CompensatedSum& sum : dealt) sum.add(numbers[k]);
  }
  combine(comm, dealt);
  for (const CompensatedSum& sum : dealt) EXPECT_NEAR(sum.value(), alone.value(), 1e-15);
}

}  // namespace
}  // namespace posgeom
