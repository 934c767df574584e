#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/geometry/stress.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {

/// The encodings that the configuration asks for, made for the positions of one length, and a fingerprint line for each that comes from a
/// file or from the noise analysis. smacof is none of them: it is computed where it is missing.
struct Encodings {
  std::vector<NamedEncoding> named;
  std::optional<NamedEncoding> signal;  ///< whose rows are the positions of the noise analysis; none where these are fewer than two
  FingerprintLines lines;
};

/// **Collective.** `widest`: the largest dimension that any of them is wanted at. Throws the same Error on every rank where the geometry
/// has no noise analysis of halves for `signal`, or an encoding is not as wide as the weights that it is to be projected by.
Encodings make_encodings(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Index widest);

/// What a stress table's numbers depend on.
FingerprintLines stress_lines(const Config& config, const std::string& corpus_fingerprint, Index length,
                              const FingerprintLines& file_lines);

/// Whether --encodings names this one of posgeom's own.
bool wants(const Config& config, std::string_view name);

/// Every encoding at every dimension of the table where it is defined and has vectors.
std::vector<StoredEncoding> encodings_to_store(const StressTable& table, const std::vector<NamedEncoding>& encodings,
                                               const SquareRootDistributions& s);

/// What smacof lowered at one dimension, weights included, and from where.
struct SmacofDescent {
  std::int32_t d = 0;
  double stress = 0, start_stress = 0;
};
/// **Collective.** smacof at `dimensions` from the MDS of `s`: one request for each where that is defined. Reports what each reached, under
/// `title` (empty: not at all), and tells it in `descents`, where that is not null.
std::vector<StressRequest> smacof_requests(const StageContext& context, const SquareRootDistributions& s, const Coordinates& start,
                                           const std::vector<std::int32_t>& dimensions, const std::string& title,
                                           std::vector<SmacofDescent>* descents = nullptr);
/// /encodings/smacof/<d> of the requests.
std::vector<StoredEncoding> smacof_to_store(const std::vector<StressRequest>& requests);
/// What is stored of one encoding, as requests at its dimensions.
std::vector<StressRequest> requests_of_stored(const std::vector<StoredEncoding>& stored, const std::string& name);

}  // namespace posgeom
