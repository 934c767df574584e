#include <numeric>

#include "io/dimension_scales.hpp"
#include "io/store_file.hpp"
#include "posgeom/error.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {

void write_truth(const Communicator& comm, const std::string& path, const TruthFile& file, const Provenance& provenance) {
  expects(std::ssize(file.weights) == file.positions * file.components, "weights are [n, K]");
  expects(std::ssize(file.distributions) == file.components * file.vocab_size, "components are [K, V]");
  io::write_store(comm, path, io::truth_format, provenance, [&](hid_t h5) {
    const auto scale = [&](const std::string& name, Index size) {
      std::vector<std::int32_t> numbers(static_cast<std::size_t>(size));
      std::iota(numbers.begin(), numbers.end(), 0);
      hdf5::write_vector(h5, name, std::span<const std::int32_t>(numbers), std::span(&size, 1));
    };
    scale("/position", file.positions);
    scale("/component", file.components);
    scale("/token", file.vocab_size);
    const Index weights[]{file.positions, file.components};
    const Index distributions[]{file.components, file.vocab_size};
    hdf5::write_vector(h5, "/weights", std::span<const double>(file.weights), weights);
    hdf5::write_vector(h5, "/distributions", std::span<const double>(file.distributions), distributions);
    io::DimensionScales scales;
    for (const char* name : {"/position", "/component", "/token"}) scales.add(name);
    scales.attach("/weights", {"/position", "/component"});
    scales.attach("/distributions", {"/component", "/token"});
    scales.write(h5);
  });
}

}  // namespace posgeom
