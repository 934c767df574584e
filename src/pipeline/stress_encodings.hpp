#pragma once
#include <string>
#include <vector>

#include "posgeom/geometry/stress.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {

/// The encodings that the configuration asks for, made for the positions of one length, and a fingerprint line for each that comes from a
/// file. smacof is none of them: it is computed where it is missing.
struct Encodings {
  std::vector<NamedEncoding> named;
  FingerprintLines file_lines;
};

/// **Collective.** `widest`: the largest dimension that any of them is wanted at.
Encodings make_encodings(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Index widest);

/// What a stress table's numbers depend on.
FingerprintLines stress_lines(const Config& config, const std::string& corpus_fingerprint, Index length,
                              const FingerprintLines& file_lines);

/// Whether --encodings names smacof.
bool wants_smacof(const Config& config);

/// Every encoding at every dimension of the table where it is defined and has vectors.
std::vector<StoredEncoding> encodings_to_store(const StressTable& table, const std::vector<NamedEncoding>& encodings,
                                               const SquareRootDistributions& s);

/// **Collective.** smacof at `dimensions` from the stored MDS: one request for each where that is defined. Reports what each reached.
std::vector<StressRequest> smacof_requests(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry,
                                           const std::vector<std::int32_t>& dimensions);
/// /encodings/smacof/<d> of the requests.
std::vector<StoredEncoding> smacof_to_store(const std::vector<StressRequest>& requests);
/// **Collective.** Those that the stress file at `path` holds: where its table has a number for them.
std::vector<StoredEncoding> stored_smacof(const Communicator& comm, const std::string& path, const StressTable& there);

}  // namespace posgeom
