#include "io/store_bootstrap.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <numeric>

#include "io/broadcast.hpp"
#include "posgeom/geometry/bootstrap.hpp"

namespace posgeom::io {
namespace {

constexpr std::array<const char*, 3> stress_names{"raw", "scaled", "violation_rate"};

template <class Bootstrap>
auto stress_values(Bootstrap& b) {
  return std::array{&b.raw, &b.scaled, &b.violation_rate};
}

void write_settings(hid_t h5, std::uint64_t seed, double alpha) {
  const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/bootstrap", H5P_DEFAULT), "opening", h5, "/bootstrap"), H5Gclose);
  hdf5::write_attribute(group, "seed", static_cast<std::int64_t>(seed));
  hdf5::write_attribute(group, "alpha", alpha);
}

void write_replicate_scale(hid_t h5, Index replicates, DimensionScales& scales) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(replicates));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Index shape[]{replicates};
  hdf5::write_vector(h5, "/bootstrap/replicate", std::span<const std::int32_t>(numbers), shape);
  scales.add("/bootstrap/replicate");
}

}  // namespace

void lay_out_bootstrap(hid_t h5, const GeometryFile& file, DimensionScales& scales) {
  const GeometryBootstrap& b = *file.bootstrap;
  const Index shape[]{std::ssize(b.rank)};
  write_replicate_scale(h5, shape[0], scales);
  struct Number {
    const char* name;
    const std::vector<double>* values;
    double estimate;
  };
  const double rank = file.spectrum.rank < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(file.spectrum.rank);
  const std::array<Number, 3> numbers{{{"rank", &b.rank, rank},
                                       {"trace", &b.trace, file.spectrum.trace},
                                       {"violation_rate", &b.violation_rate, file.corpus_violation_rate}}};
  for (const Number& number : numbers) {
    const std::string name = fmt::format("/bootstrap/{}", number.name);
    hdf5::write_vector(h5, name, std::span<const double>(*number.values), shape);
    scales.attach(name, {"/bootstrap/replicate"});
  }
  write_settings(h5, b.seed, b.alpha);
  const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/bootstrap", H5P_DEFAULT), "opening", h5, "/bootstrap"), H5Gclose);
  for (const Number& number : numbers) {
    const Interval percentile = percentile_interval(*number.values, b.alpha);
    const Interval basic = basic_interval(number.estimate, percentile);
    hdf5::write_attribute(group, fmt::format("{}_low", number.name), percentile.low);
    hdf5::write_attribute(group, fmt::format("{}_high", number.name), percentile.high);
    hdf5::write_attribute(group, fmt::format("{}_basic_low", number.name), basic.low);
    hdf5::write_attribute(group, fmt::format("{}_basic_high", number.name), basic.high);
  }
}

void lay_out_bootstrap(hid_t h5, const StressFile& file, DimensionScales& scales) {
  const StressBootstrap& b = *file.bootstrap;
  const Index encodings = std::ssize(file.table.encoding_names);
  const Index dimensions = std::ssize(file.table.dimensions);
  const auto cells = static_cast<std::size_t>(encodings * dimensions);
  const Index whole[]{b.replicates, encodings, dimensions};
  const Index table[]{encodings, dimensions};
  write_replicate_scale(h5, b.replicates, scales);
  const auto write_table = [&](const std::string& name, const auto& values) {
    hdf5::write_vector(h5, name, std::span(values), table);
    scales.attach(name, {"/encoding_name", "/dimension"});
  };
  const std::array<const std::vector<double>*, 3> estimates{&file.table.raw, &file.table.scaled, &file.table.violation_rate};
  for (std::size_t k = 0; k < stress_names.size(); ++k) {
    const std::vector<double>& values = *stress_values(b)[k];
    expects(values.size() == cells * static_cast<std::size_t>(b.replicates), "replicates of every cell");
    const std::string name = fmt::format("/bootstrap/replicates/{}", stress_names[k]);
    hdf5::write_vector(h5, name, std::span<const double>(values), whole);
    scales.attach(name, {"/bootstrap/replicate", "/encoding_name", "/dimension"});
    std::array<std::vector<double>, 4> ends;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      std::vector<double> replicates;
      for (Index r = 0; r < b.replicates; ++r) replicates.push_back(values[static_cast<std::size_t>(r) * cells + cell]);
      const Interval percentile = percentile_interval(replicates, b.alpha);
      const Interval basic = basic_interval((*estimates[k])[cell], percentile);
      ends[0].push_back(percentile.low);
      ends[1].push_back(percentile.high);
      ends[2].push_back(basic.low);
      ends[3].push_back(basic.high);
    }
    constexpr std::array<const char*, 4> suffixes{"low", "high", "basic_low", "basic_high"};
    for (std::size_t end = 0; end < ends.size(); ++end)
      write_table(fmt::format("/bootstrap/{}_{}", stress_names[k], suffixes[end]), std::as_const(ends[end]));
  }
  const Rankings rankings = rank_encodings(b.scaled, b.replicates, encodings, dimensions);
  write_table("/bootstrap/best", rankings.best);
  write_table("/bootstrap/modal_rank", rankings.modal_rank);
  const Index shape[]{dimensions};
  hdf5::write_vector(h5, "/bootstrap/modal_share", std::span<const double>(rankings.modal_share), shape);
  scales.attach("/bootstrap/modal_share", {"/dimension"});
  write_settings(h5, b.seed, b.alpha);
}

GeometryBootstrap read_geometry_bootstrap(const StoreReader& reader) {
  GeometryBootstrap b;
  b.seed = static_cast<std::uint64_t>(reader.integer("/bootstrap/seed"));
  b.alpha = reader.real("/bootstrap/alpha");
  b.rank = reader.values<double>("/bootstrap/rank", {-1});
  b.trace = reader.values<double>("/bootstrap/trace", {std::ssize(b.rank)});
  b.violation_rate = reader.values<double>("/bootstrap/violation_rate", {std::ssize(b.rank)});
  return b;
}

StressBootstrap read_stress_bootstrap(const StoreReader& reader, Index encodings, Index dimensions) {
  StressBootstrap b;
  b.seed = static_cast<std::uint64_t>(reader.integer("/bootstrap/seed"));
  b.alpha = reader.real("/bootstrap/alpha");
  b.replicates = reader.shape("/bootstrap/replicates/raw").at(0);
  for (std::size_t k = 0; k < stress_names.size(); ++k) {
    *stress_values(b)[k] =
        reader.values<double>(fmt::format("/bootstrap/replicates/{}", stress_names[k]), {b.replicates, encodings, dimensions});
  }
  return b;
}

namespace {

template <class Bootstrap>
bool broadcast_presence(const Communicator& comm, std::optional<Bootstrap>& bootstrap) {
  bool there = bootstrap.has_value();
  broadcast_value(comm, there);
  if (there && !bootstrap) bootstrap.emplace();
  return there;
}

}  // namespace

void broadcast_bootstrap(const Communicator& comm, std::optional<GeometryBootstrap>& bootstrap) {
  if (!broadcast_presence(comm, bootstrap)) return;
  broadcast_all(comm, bootstrap->seed, bootstrap->alpha, bootstrap->rank, bootstrap->trace, bootstrap->violation_rate);
}

void broadcast_bootstrap(const Communicator& comm, std::optional<StressBootstrap>& bootstrap) {
  if (!broadcast_presence(comm, bootstrap)) return;
  broadcast_all(comm, bootstrap->seed, bootstrap->alpha, bootstrap->replicates, bootstrap->raw, bootstrap->scaled,
                bootstrap->violation_rate);
}

}  // namespace posgeom::io
