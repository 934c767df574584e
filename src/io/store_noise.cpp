#include "io/store_noise.hpp"

#include <fmt/format.h>

#include <numeric>

#include "io/broadcast.hpp"
#include "posgeom/error.hpp"

namespace posgeom::io {
namespace {

/// The numbers of the analysis with the names that they have in files: each(name, member).
template <class Noise, class Each>
void each_number(Noise& n, Each&& each) {
  each("reached", n.reached);
  each("rarefied_total", n.rarefied_total);
  each("alpha", n.alpha);
  each("threshold", n.threshold);
  each("signal_rank", n.signal_rank);
  each("signal_trace", n.signal_trace);
  each("denoised_sum", n.denoised_sum);
  each("denoised_negative", n.denoised_negative);
  each("reliability", n.reliability);
  each("reliability_of_whole", n.reliability_of_whole);
  each("shuffled_rank", n.shuffled_rank);
  each("shuffled_trace", n.shuffled_trace);
  each("shuffled_violation_rate", n.shuffled_violation_rate);
  each("shuffled_sum_hellinger_squared", n.shuffled_sum_hellinger_squared);
  each("shuffled_share", n.shuffled_share);
  each("shuffled_split_largest", n.shuffled_split_largest);
  each("signal_rank_order", n.signal_rank_order);
}

void write_values(hid_t h5, const std::string& name, const std::vector<double>& values) {
  const Index shape[]{std::ssize(values)};
  hdf5::write_vector(h5, name, std::span<const double>(values), shape);
}

void lay_out_split(hid_t h5, const NoiseAnalysis& noise, DimensionScales& scales) {
  const Index rows = noise.position_count();
  const Index columns = noise.signal_components;
  expects(std::ssize(noise.signal_encoding) == rows * columns, "a whole signal encoding");
  std::vector<std::int32_t> component(static_cast<std::size_t>(columns));
  std::iota(component.begin(), component.end(), 0);
  std::vector<double> by_rows(noise.signal_encoding.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      by_rows[static_cast<std::size_t>(i * columns + j)] = noise.signal_encoding[static_cast<std::size_t>(i + j * rows)];
    }
  }
  const Index row_shape[]{rows};
  const Index column_shape[]{columns};
  const Index shape[]{rows, columns};
  hdf5::write_vector(h5, "/noise/position", std::span<const std::int32_t>(noise.position), row_shape);
  hdf5::write_vector(h5, "/noise/signal_component", std::span<const std::int32_t>(component), column_shape);
  hdf5::write_vector(h5, "/noise/signal_encoding", std::span<const double>(by_rows), shape);
  write_values(h5, "/noise/split_eigenvalues", noise.split_eigenvalues);
  write_values(h5, "/noise/null_largest", noise.null_largest);
  for (const char* scale : {"/noise/position", "/noise/signal_component", "/noise/split_eigenvalues", "/noise/null_largest"}) {
    scales.add(scale);
  }
  scales.attach("/noise/signal_encoding", {"/noise/position", "/noise/signal_component"});
}

void read_split(const StoreReader& reader, NoiseAnalysis& noise) {
  noise.split = true;
  noise.position = reader.values<std::int32_t>("/noise/position", {-1});
  for (std::size_t i = 0; i < noise.position.size(); ++i) {
    if (noise.position[i] <= (i == 0 ? -1 : noise.position[i - 1]) || noise.position[i] >= noise.length) {
      reader.refuse(
          fmt::format("/noise/position has {} in row {}, expected ascending positions below {}", noise.position[i], i, noise.length));
    }
  }
  const Index rows = noise.position_count();
  noise.split_eigenvalues = reader.values<double>("/noise/split_eigenvalues", {rows});
  noise.null_largest = reader.values<double>("/noise/null_largest", {-1});
  noise.signal_components = std::ssize(reader.values<std::int32_t>("/noise/signal_component", {-1}));
  if (noise.signal_components > noise.signal_rank) {
    reader.refuse(fmt::format("/noise/signal_component has {} columns, the attribute /noise/signal_rank is {}", noise.signal_components,
                              noise.signal_rank));
  }
  const auto by_rows = reader.values<double>("/noise/signal_encoding", {rows, noise.signal_components});
  for (Index j = 0; j < noise.signal_components; ++j) {
    for (Index i = 0; i < rows; ++i) noise.signal_encoding.push_back(by_rows[static_cast<std::size_t>(i * noise.signal_components + j)]);
  }
}

}  // namespace

void lay_out_noise(hid_t h5, const NoiseAnalysis& noise, DimensionScales& scales) {
  expects(noise.split || noise.shuffle, "an analysis of halves or of a shuffled corpus");
  if (noise.split) lay_out_split(h5, noise, scales);
  if (noise.shuffle) {
    write_values(h5, "/noise/shuffled_eigenvalues", noise.shuffled_eigenvalues);
    scales.add("/noise/shuffled_eigenvalues");
  }
  const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/noise", H5P_DEFAULT), "opening", h5, "/noise"), H5Gclose);
  each_number(noise, [&](const char* name, auto value) { hdf5::write_attribute(group, name, value); });
}

NoiseAnalysis read_noise(const StoreReader& reader) {
  NoiseAnalysis noise;
  noise.length = reader.integer("length");
  each_number(noise, [&](const char* name, auto& value) {
    const std::string attribute = std::string("/noise/") + name;
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>) {
      value = reader.real(attribute);
    } else {
      value = reader.integer(attribute);
    }
  });
  if (reader.has("/noise/position")) read_split(reader, noise);
  if (reader.has("/noise/shuffled_eigenvalues")) {
    noise.shuffle = true;
    noise.shuffled_eigenvalues = reader.values<double>("/noise/shuffled_eigenvalues", {-1});
  }
  return noise;
}

void broadcast_noise(const Communicator& comm, NoiseAnalysis& noise) {
  each_number(noise, [&](const char*, auto& value) { broadcast_value(comm, value); });
  broadcast_all(comm, noise.length, noise.position, noise.split, noise.split_eigenvalues, noise.null_largest, noise.signal_components,
                noise.signal_encoding, noise.shuffle, noise.shuffled_eigenvalues);
}

}  // namespace posgeom::io
