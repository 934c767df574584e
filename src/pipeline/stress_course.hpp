#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stress_encodings.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {

/// Distributions, and their H in numbers.
struct Distances {
  SquareRootDistributions s;
  HellingerSummary summary;
};

/// A stress stage in its course: the tables, and what is stored beside them. All functions are **Collective.**
class StressCourse {
 public:
  StressCourse(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Encodings encodings,
               StressFile file);

  StressFile file;
  std::vector<StoredEncoding> stored;  ///< what smacof found, and what earlier runs stored
  bool store_forms = false;            ///< the encodings are stored at every dimension too
  bool against_shuffled = false;       ///< the counts have the shuffled corpus, and /shuffled is wanted
  bool against_denoised = false;       ///< the counts have the halves of the noise analysis, and /denoised is wanted
  Provenance provenance;

  /// Whether any cell of this run's encodings is missing beside a number of the table: of /shuffled or /denoised.
  bool lacks_groups() const;
  /// Scores what is missing; large lengths in steps, of which the finished ones are kept now and then in `unfinished`, and at a signal.
  void score_missing(const std::string& unfinished);
  void write(const std::string& path);

 private:
  using Columns = std::vector<StressColumns>;
  Columns sweep(const SquareRootDistributions& s, const HellingerSummary& summary, const std::vector<StressRequest>& requests,
                const StressSweepOptions& options);
  void score(const std::vector<StressRequest>& requests);
  void score_signal();
  void score_smacof(const std::vector<std::int32_t>& dimensions);
  void score_shuffled(const std::vector<NamedEncoding>& encodings);
  void score_shuffled_own(const std::string& name);
  void score_denoised();
  void insert_shuffled(const StressRequest& request, const StressColumns& columns, bool own_distances);
  const Distances& of_signal();
  const Distances& of_shuffled();
  const Coordinates& shuffled_mds();
  DistributedMatrix denoised_distances() const;

  const StageContext& context_;
  const GeometryFile& geometry_;
  Encodings encodings_;
  const SquareRootDistributions& s_;
  HellingerSummary summary_;
  std::optional<Distances> signal_, shuffled_;
  std::optional<Coordinates> shuffled_mds_;
  Index steps_ = 1, steps_done_ = 0;  ///< of score_missing()
  bool changed_ = false;              ///< since the last write
};

}  // namespace posgeom
