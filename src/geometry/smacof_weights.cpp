#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posgeom/error.hpp"
#include "posgeom/geometry/smacof.hpp"

namespace posgeom {

std::string_view name_of(SmacofWeights weights) { return weights == SmacofWeights::tokens ? "tokens" : "none"; }

SmacofWeights smacof_weights_named(std::string_view name) {
  for (const SmacofWeights weights : {SmacofWeights::none, SmacofWeights::tokens}) {
    if (name_of(weights) == name) return weights;
  }
  throw Error(fmt::format("--smacof-weights: found '{}', expected one of none, tokens", name), ErrorKind::usage);
}

std::vector<double> token_weights(std::span<const Count> total) {
  std::vector<double> weights;
  weights.reserve(total.size());
  for (const Count n : total) weights.push_back(std::sqrt(static_cast<double>(std::max<Count>(1, n))));
  const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  for (double& w : weights) w /= mean;
  return weights;
}

}  // namespace posgeom
