#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgeom/error.hpp"
#include "posgeom/geometry/encodings.hpp"

namespace posgeom {
namespace {

/// YaRN's ramp over the index k of a frequency: 0 where it is kept, 1 where it is divided.
class Ramp {
 public:
  Ramp(double base, Index head, Index original_length) {
    constexpr double fast = 32;
    constexpr double slow = 1;
    const auto index_of = [&](double turns) {
      return static_cast<double>(head) * std::log(static_cast<double>(original_length) / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(base));
    };
    begin_ = std::clamp(std::floor(index_of(fast)), 0.0, static_cast<double>(head - 1));
    end_ = std::clamp(std::ceil(index_of(slow)), begin_, static_cast<double>(head - 1));
    if (begin_ == end_) end_ += 0.001;
  }
  double at(std::size_t k) const { return std::clamp((static_cast<double>(k) - begin_) / (end_ - begin_), 0.0, 1.0); }

 private:
  double begin_;
  double end_;
};

}  // namespace

std::string name_of(const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScaling::Kind::none:
      return "none";
    case RopeScaling::Kind::linear:
      return fmt::format("linear:{}", scaling.factor);
    case RopeScaling::Kind::ntk:
      return fmt::format("ntk:{}", scaling.factor);
    case RopeScaling::Kind::yarn:
      return fmt::format("yarn:{}", scaling.factor);
  }
  return {};
}

std::vector<double> rope_frequencies(double base, Index head, const RopeScaling& scaling) {
  using Kind = RopeScaling::Kind;
  expects(head >= 2 && head % 2 == 0 && scaling.factor >= 1, "an even head dimension and a factor from 1");
  const auto size = static_cast<double>(head);
  // With two dimensions there is w_0 = 1 alone, whatever the base.
  if (scaling.kind == Kind::ntk && head > 2) base *= std::pow(scaling.factor, size / (size - 2));
  std::vector<double> w(static_cast<std::size_t>(head / 2));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = std::pow(base, -2.0 * static_cast<double>(k) / size);
  if (scaling.kind == Kind::linear) {
    for (double& frequency : w) frequency /= scaling.factor;
  }
  if (scaling.kind == Kind::yarn) {
    expects(base > 1 && scaling.original_length >= 1, "a base above 1 and the original length");
    const Ramp ramp(base, head, scaling.original_length);
    for (std::size_t k = 0; k < w.size(); ++k) w[k] = w[k] * (1 - ramp.at(k)) + w[k] / scaling.factor * ramp.at(k);
  }
  return w;
}

}  // namespace posgeom
