#pragma once
#include <map>
#include <string>
#include <vector>

#include "posgeom/io/encoding_file.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {

/// The encodings of --encodings that come from files, in the names under which they are scored; every file is read once in a run, and kept
/// by the root.
class EncodingFiles {
 public:
  /// **Collective.** --encodings with a name for each step of a series (NAME.step000100), and for what of a layer is scored (NAME.q,
  /// NAME.qk, NAME.head0.q, ...). Throws the same Error on every rank, naming the encoding: files that cannot be read, steps that have no
  /// number or the same, names that occur twice.
  const std::vector<EncodingSpec>& specs(const StageContext& context);
  /// **Collective.** The matrix of an encoding from a file. Throws as specs() does.
  FileMatrix matrix(const StageContext& context, const EncodingSpec& spec);
  /// **Collective.** A weight matrix of the projection that `spec` is part of.
  FileMatrix weight(const StageContext& context, const EncodingSpec& spec, const MatrixSource& source);

 private:
  /// **Collective.** Errors name the encoding.
  const FileSeries& file(const StageContext& context, const std::string& name, const MatrixSource& source, const RowRange& rows);
  FileMatrix slice(const StageContext& context, const FileSeries& series, Index k) const;

  std::vector<EncodingSpec> specs_;
  std::map<std::string, FileSeries> files_;
};

/// The files that match `pattern`, each with the number in its name: where names have several, the first that differs among them.
/// Ascending by number. Throws Error where nothing matches, a name has no number, or two have the same. Not collective.
struct StepFile {
  std::string path;
  std::int64_t step = 0;
};
std::vector<StepFile> step_files(const std::string& pattern);

/// What is scored of a projection, in order: the layer's NAME.q and with a key NAME.qk, then, with several heads, NAME.head0.q and so on.
struct ProjectionPart {
  std::string name;
  bool with_key = false;
  Index head = -1;  ///< -1: all of them together
};
std::vector<ProjectionPart> projection_parts(const EncodingSpec& spec);
/// The names of the rows of the stress tables.
std::vector<std::string> scored_names(const std::vector<EncodingSpec>& specs);

}  // namespace posgeom
