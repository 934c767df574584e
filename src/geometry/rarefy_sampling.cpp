#include "geometry/rarefy_sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace posgeom::sampling {
namespace {

/// Up to so many trials are made one by one.
constexpr Index few = 8;
/// Up to this standard deviation values are searched from the mode outwards, about two a deviation; beyond, rejection costs less.
constexpr double narrow = 64;
/// Below this share of one in 2^52 the rest of a tail is rounding.
constexpr double negligible = 1e-18;

/// ln n! - ln(sqrt(2 pi n) (n/e)^n).
double stirling_error(Index n) {
  constexpr std::array<double, 16> small{0.0,
                                         0.0810614667953272582196702,
                                         0.0413406959554092940938221,
                                         0.02767792568499833914878929,
                                         0.02079067210376509311152277,
                                         0.01664469118982119216319487,
                                         0.01387612882307074799874573,
                                         0.01189670994589177009505572,
                                         0.010411265261972096497478567,
                                         0.009255462182712732917728637,
                                         0.008330563433362871256469318,
                                         0.007573675487951840794972024,
                                         0.006942840107209529865664152,
                                         0.006408994188004207068439631,
                                         0.005951370112758847735624416,
                                         0.005554733551962801371038690};
  if (n < std::ssize(small)) return small[static_cast<std::size_t>(n)];
  const auto x = static_cast<double>(n);
  const double square = x * x;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) / x;
}

/// x ln(x / mean) + mean - x, without cancellation where x is near the mean.
double deviance(double x, double mean) {
  if (std::abs(x - mean) >= 0.1 * (x + mean)) return x * std::log(x / mean) + mean - x;
  const double v = (x - mean) / (x + mean);
  double sum = (x - mean) * v;
  double power = 2 * x * v;
  for (int j = 1;; ++j) {
    power *= v * v;
    const double next = sum + power / (2 * j + 1);
    if (next == sum) return sum;
    sum = next;
  }
}

struct Binomial {
  Index n;
  double p, q;
  Index lowest() const { return 0; }
  Index highest() const { return n; }
  Index mode() const { return std::min(n, static_cast<Index>(static_cast<double>(n + 1) * p)); }
  double deviation() const { return std::sqrt(static_cast<double>(n) * p * q); }
  double log_probability(Index x) const { return log_binomial(x, n, p, q); }
  /// The probability of x + 1 over that of x.
  double ratio(Index x) const { return static_cast<double>(n - x) * p / (static_cast<double>(x + 1) * q); }
};

struct Hypergeometric {
  Index good, bad, draws;
  double all() const { return static_cast<double>(good + bad); }
  Index lowest() const { return std::max<Index>(0, draws - bad); }
  Index highest() const { return std::min(draws, good); }
  Index mode() const {
    const double middle = static_cast<double>(draws + 1) * (static_cast<double>(good + 1) / (all() + 2));
    return std::clamp(static_cast<Index>(middle), lowest(), highest());
  }
  double deviation() const {
    const auto k = static_cast<double>(draws);
    return std::sqrt(k * (static_cast<double>(good) / all()) * (static_cast<double>(bad) / all()) * ((all() - k) / (all() - 1)));
  }
  double log_probability(Index x) const { return log_hypergeometric(x, good, bad, draws); }
  double ratio(Index x) const {
    return static_cast<double>(good - x) * static_cast<double>(draws - x) /
           (static_cast<double>(x + 1) * static_cast<double>(bad - draws + x + 1));
  }
};

/// Inversion: values are tried in the order mode, mode + 1, mode - 1, mode + 2, ...
template <class Distribution>
Index outwards(KeyedWords& words, const Distribution& d) {
  const Index mode = d.mode();
  double above = std::exp(d.log_probability(mode));
  double below = above;
  double left = words.unit() - above;
  Index high = mode;
  Index low = mode;
  while (left >= 0 && above + below > negligible) {
    above = high < d.highest() ? above * d.ratio(high) : 0;
    ++high;
    left -= above;
    if (left < 0) return high;
    below = low > d.lowest() ? below / d.ratio(low - 1) : 0;
    --low;
    left -= below;
    if (left < 0) return low;
  }
  return mode;
}

/// Probabilities that are log-concave, with the mode's p, are at most p min(1, exp(1 - p |x - mode|)) (Devroye, "A simple generator for
/// discrete log-concave distributions", Computing 39, 1987): about four tries.
template <class Distribution>
Index by_rejection(KeyedWords& words, const Distribution& d) {
  const Index mode = d.mode();
  const double log_p = d.log_probability(mode);
  const double p = std::exp(log_p);
  const double w = 1 + p / 2;
  while (true) {
    const double v = words.unit();
    const double y = words.unit() <= w / (1 + w) ? v * w / p : (w - std::log(v)) / p;
    const double u = words.unit() * std::min(1.0, std::exp(w - p * y));
    const Index away = static_cast<Index>(std::min(std::nearbyint(y), 0x1p62));
    const bool upwards = (words.next() & 1U) != 0;
    if (away > (upwards ? d.highest() - mode : mode - d.lowest())) continue;
    const Index x = upwards ? mode + away : mode - away;
    if (u <= std::exp(d.log_probability(x) - log_p)) return x;
  }
}

template <class Distribution>
Index draw(KeyedWords& words, const Distribution& d) {
  if (d.lowest() == d.highest()) return d.lowest();
  return d.deviation() <= narrow ? outwards(words, d) : by_rejection(words, d);
}

}  // namespace

double log_binomial(Index x, Index n, double p, double q) {
  if (x < 0 || x > n) return -std::numeric_limits<double>::infinity();
  const auto trials = static_cast<double>(n);
  if (x == 0) return p < 0.1 ? trials * std::log1p(-p) : trials * std::log(q);
  if (x == n) return q < 0.1 ? trials * std::log1p(-q) : trials * std::log(p);
  const auto successes = static_cast<double>(x);
  const auto failures = static_cast<double>(n - x);
  const double corrections = stirling_error(n) - stirling_error(x) - stirling_error(n - x);
  const double deviances = deviance(successes, trials * p) + deviance(failures, trials * q);
  return corrections - deviances - 0.5 * std::log(2 * std::numbers::pi * successes * (failures / trials));
}

double log_hypergeometric(Index x, Index good, Index bad, Index draws) {
  const auto all = static_cast<double>(good + bad);
  const double p = static_cast<double>(draws) / all;
  const double q = static_cast<double>(good + bad - draws) / all;
  return log_binomial(x, good, p, q) + log_binomial(draws - x, bad, p, q) - log_binomial(draws, good + bad, p, q);
}

Index binomial(KeyedWords& words, Index n, double p) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (n > few) return draw(words, Binomial{n, p, 1 - p});
  Index successes = 0;
  for (Index trial = 0; trial < n; ++trial) successes += words.unit() < p ? 1 : 0;
  return successes;
}

Index hypergeometric(KeyedWords& words, Index good, Index bad, Index draws) {
  if (std::min(good, draws) > few) return draw(words, Hypergeometric{good, bad, draws});
  // Good ones among the draws are as many as draws among the good ones: the fewer of the two go one by one.
  const Index tries = std::min(good, draws);
  Index wanted = std::max(good, draws);
  Index all = good + bad;
  Index found = 0;
  for (Index t = 0; t < tries; ++t, --all) {
    if (words.unit() * static_cast<double>(all) < static_cast<double>(wanted)) {
      ++found;
      --wanted;
    }
  }
  return found;
}

}  // namespace posgeom::sampling
