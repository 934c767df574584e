#include "posgeom/corpus/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/philox.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::pair<SyntheticKind, std::string_view>, 3> kind_names{
    {{SyntheticKind::planted, "planted"}, {SyntheticKind::drift, "drift"}, {SyntheticKind::stationary, "stationary"}}};
constexpr double zipf_shift = 2.7;  // Mandelbrot's, as fitted to English

[[noreturn]] void refuse(const std::string& what) { throw Error(what, ErrorKind::usage); }

std::vector<double> zipf_law(Index size, double exponent) {
  std::vector<double> law(static_cast<std::size_t>(size));
  for (std::size_t r = 0; r < law.size(); ++r) law[r] = std::pow(static_cast<double>(r) + zipf_shift, -exponent);
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

/// q_c(v), [K, V].
std::vector<double> make_components(const SyntheticOptions& o, Index count) {
  const Index size = o.vocab_size;
  std::vector<double> all(static_cast<std::size_t>(count * size), 0.0);
  const std::vector<double> common = zipf_law(size, o.zipf);
  for (Index c = 0; c < count; ++c) {
    double* const q = all.data() + c * size;
    if (o.kind == SyntheticKind::planted) {
      const std::vector<double> own = zipf_law((size - c + count - 1) / count, o.zipf);
      for (std::size_t r = 0; r < own.size(); ++r) q[c + static_cast<Index>(r) * count] = own[r];
    } else {
      for (Index r = 0; r < size; ++r) q[(r + c * size / count) % size] = common[static_cast<std::size_t>(r)];
    }
    for (Index v = 0; v < size; ++v) q[v] = (1 - o.overlap) * q[v] + o.overlap * common[static_cast<std::size_t>(v)];
  }
  return all;
}

/// w_c(i), [n, K].
std::vector<double> make_weights(Index positions, Index count) {
  std::vector<double> weights(static_cast<std::size_t>(positions * count));
  for (Index i = 0; i < positions; ++i) {
    double* const w = weights.data() + i * count;
    const double place = positions > 1 ? static_cast<double>(i) / static_cast<double>(positions - 1) : 0.0;
    double sum = 0;
    for (Index c = 0; c < count; ++c) {
      const double centre = count > 1 ? static_cast<double>(c) / static_cast<double>(count - 1) : 0.0;
      const double away = (place - centre) * 3 * static_cast<double>(count);
      sum += w[c] = std::exp(-away * away / 2);
    }
    for (Index c = 0; c < count; ++c) w[c] /= sum;
  }
  return weights;
}

/// Rows of `width`, each summed up; the last of each is 1.
std::vector<double> summed_rows(std::vector<double> values, Index width) {
  for (auto row = values.begin(); row != values.end(); row += width) {
    std::partial_sum(row, row + width, row);
    row[width - 1] = 1;
  }
  return values;
}

/// The first place whose sum exceeds u in (0, 1).
Index place_of(const double* sums, Index size, double u) { return std::upper_bound(sums, sums + size - 1, u) - sums; }

}  // namespace

std::string_view name_of(SyntheticKind kind) {
  return std::ranges::find(kind_names, kind, &std::pair<SyntheticKind, std::string_view>::first)->second;
}

SyntheticKind synthetic_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kind_names, name, &std::pair<SyntheticKind, std::string_view>::second);
  if (found == kind_names.end()) refuse(fmt::format("option --synth-kind: found '{}', expected planted, drift or stationary", name));
  return found->first;
}

DocumentLengths document_lengths_named(std::string_view text) {
  using Law = DocumentLengths::Law;
  struct Form {
    std::string_view name;
    Law law;
    std::size_t numbers;
  };
  constexpr std::array<Form, 4> forms{
      {{"fixed", Law::fixed, 1}, {"uniform", Law::uniform, 2}, {"geometric", Law::geometric, 1}, {"lognormal", Law::lognormal, 2}}};
  const auto wrong = [&] {
    refuse(
        fmt::format("option --synth-lengths: found '{}', expected fixed:L, uniform:A:B, geometric:MEAN or lognormal:MEDIAN:SIGMA with "
                    "numbers >= 1 (SIGMA >= 0) and A <= B",
                    text));
  };
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto form = std::ranges::find(forms, parts.front(), &Form::name);
  if (form == forms.end() || parts.size() != form->numbers + 1) wrong();
  std::array<double, 2> numbers{};
  for (std::size_t k = 0; k < form->numbers; ++k) {
    const std::string_view part = parts[k + 1];
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), numbers[k]);
    const double least = form->law == Law::lognormal && k == 1 ? 0 : 1;
    if (problem != std::errc() || end != part.data() + part.size() || !(numbers[k] >= least) || !(numbers[k] <= 1e9)) wrong();
  }
  if (form->law == Law::uniform && numbers[0] > numbers[1]) wrong();
  return {form->law, numbers[0], numbers[1]};
}

SyntheticCorpus::SyntheticCorpus(const SyntheticOptions& options)
    : options_(options), component_count_(options.kind == SyntheticKind::stationary ? 1 : options.components) {
  expects(options.positions >= 1, "positions");
  if (options.vocab_size < component_count_) {
    refuse(fmt::format("option --vocab-size: found {}, expected at least one token for each of {} components (--synth-components)",
                       options.vocab_size, component_count_));
  }
  constexpr Index most = Index{1} << 28;  // 2 GiB of probabilities
  if (component_count_ * options.vocab_size > most) {
    refuse(fmt::format("option --synth-components: {} components of {} tokens are more than {} probabilities; use fewer of either",
                       component_count_, options.vocab_size, most));
  }
  weights_ = make_weights(options.positions, component_count_);
  components_ = make_components(options, component_count_);
  cumulative_weights_ = summed_rows(weights_, component_count_);
  cumulative_components_ = summed_rows(components_, options.vocab_size);
}

std::int32_t SyntheticCorpus::length_of(double first, double second) const {
  const DocumentLengths& l = options_.lengths;
  double length = l.first;
  switch (l.law) {
    case DocumentLengths::Law::fixed:
      break;
    case DocumentLengths::Law::uniform:
      length = l.first + std::floor(first * (std::floor(l.second) - l.first + 1));
      break;
    case DocumentLengths::Law::geometric:
      length = l.first <= 1 ? 1 : 1 + std::floor(std::log(first) / std::log1p(-1 / l.first));
      break;
    case DocumentLengths::Law::lognormal:
      length = std::round(l.first * std::exp(l.second * std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second)));
      break;
  }
  return static_cast<std::int32_t>(std::clamp(length, 1.0, static_cast<double>(options_.positions)));
}

std::int32_t SyntheticCorpus::append_document(Index index, std::vector<Token>& tokens) const {
  KeyedWords words({.seed = options_.seed, .first = static_cast<std::uint64_t>(index), .purpose = Purpose::synthetic});
  const double first = words.unit();
  const double second = words.unit();
  const std::int32_t length = length_of(first, second);
  for (Index i = 0; i < length; ++i) {
    const Index c = place_of(cumulative_weights_.data() + i * component_count_, component_count_, words.unit());
    const Index v = place_of(cumulative_components_.data() + c * options_.vocab_size, options_.vocab_size, words.unit());
    tokens.push_back(static_cast<Token>(v));
  }
  return length;
}

}  // namespace posgeom
