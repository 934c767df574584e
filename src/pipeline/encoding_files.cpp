#include "pipeline/encoding_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

std::string step_name(const std::string& name, std::int64_t step) { return fmt::format("{}.step{:06}", name, step); }

/// **Collective.** The root's files on every rank.
std::vector<StepFile> step_files_together(const StageContext& context, const EncodingSpec& spec) {
  std::vector<StepFile> files = collective(context.comm, "listing the files of an encoding", [&] {
    try {
      return context.comm.is_root() ? step_files(spec.path) : std::vector<StepFile>();
    } catch (const Error& error) {
      throw Error(fmt::format("option --encodings, {}: {}", spec.name, error.what()));
    }
  });
  Index count = std::ssize(files);
  broadcast(context.comm, std::span(&count, 1));
  files.resize(static_cast<std::size_t>(count));
  for (StepFile& file : files) {
    broadcast_resized(context.comm, file.path);
    broadcast(context.comm, std::span(&file.step, 1));
  }
  return files;
}

void refuse_repeated(const StageContext& context, const std::vector<EncodingSpec>& specs) {
  const std::vector<std::string> names = scored_names(specs);
  collective(context.comm, "naming the encodings", [&] {
    for (auto name = names.begin(); name != names.end(); ++name) {
      if (std::find(names.begin(), name, *name) == name) continue;
      throw Error(fmt::format("option --encodings: found two encodings '{}', expected each name once", *name), ErrorKind::usage);
    }
  });
}

}  // namespace

std::shared_ptr<EncodingFiles> make_encoding_files() { return std::make_shared<EncodingFiles>(); }

std::vector<ProjectionPart> projection_parts(const EncodingSpec& spec) {
  const Projection& projection = spec.projection;
  std::vector<ProjectionPart> parts;
  for (Index head = -1; head < (projection.heads > 1 ? projection.heads : 0); ++head) {
    const std::string name = head < 0 ? spec.name : fmt::format("{}.head{}", spec.name, head);
    parts.push_back({name + ".q", false, head});
    if (!projection.key.path.empty()) parts.push_back({name + ".qk", true, head});
  }
  return parts;
}

std::vector<std::string> scored_names(const std::vector<EncodingSpec>& specs) {
  std::vector<std::string> names;
  for (const EncodingSpec& spec : specs) {
    if (spec.projection.of.empty()) {
      names.push_back(spec.name);
    } else {
      for (const ProjectionPart& part : projection_parts(spec)) names.push_back(part.name);
    }
  }
  return names;
}

const FileSeries& EncodingFiles::file(const StageContext& context, const std::string& name, const MatrixSource& source,
                                      const RowRange& rows) {
  const std::string key = fmt::format("{}\n{}\n{}\n{}", source.path, source.dataset, rows.begin, rows.end);
  if (const auto found = files_.find(key); found != files_.end()) return found->second;
  try {
    return files_.emplace(key, read_encoding_series(context.comm, source.path, source.dataset, rows)).first->second;
  } catch (const CollectiveError& error) {
    throw CollectiveError(fmt::format("option --encodings, {}: {}", name, error.what()), error.kind(), error.rank());
  }
}

FileMatrix EncodingFiles::slice(const StageContext& context, const FileSeries& series, Index k) const {
  const Index size = series.rows * series.columns;
  FileMatrix matrix{series.rows, series.columns, {}};
  collective(context.comm, "handing an encoding to all ranks", [&] {
    if (context.comm.is_root()) {
      matrix.values.assign(series.values.begin() + k * size, series.values.begin() + (k + 1) * size);
    } else {
      matrix.values.resize(static_cast<std::size_t>(size));
    }
  });
  broadcast(context.comm, std::span(matrix.values));
  return matrix;
}

const std::vector<EncodingSpec>& EncodingFiles::specs(const StageContext& context) {
  if (!specs_.empty()) return specs_;
  std::vector<EncodingSpec> specs;
  for (const EncodingSpec& spec : context.config.stress.encodings) {
    if (spec.many_files) {
      for (const StepFile& step : step_files_together(context, spec)) {
        EncodingSpec one = spec;
        one.name = step_name(spec.name, step.step);
        one.path = step.path;
        one.many_files = false;
        specs.push_back(std::move(one));
      }
      continue;
    }
    const FileSeries* series = spec.path.empty() ? nullptr : &file(context, spec.name, {spec.path, spec.dataset}, spec.rows);
    if (series == nullptr || series->step.empty()) {
      specs.push_back(spec);
      continue;
    }
    for (std::size_t k = 0; k < series->step.size(); ++k) {
      EncodingSpec one = spec;
      one.name = step_name(spec.name, series->step[k]);
      one.slice = static_cast<Index>(k);
      specs.push_back(std::move(one));
    }
  }
  refuse_repeated(context, specs);
  specs_ = std::move(specs);
  return specs_;
}

FileMatrix EncodingFiles::matrix(const StageContext& context, const EncodingSpec& spec) {
  const FileSeries& series = file(context, spec.name, {spec.path, spec.dataset}, spec.rows);
  collective(context.comm, "choosing a step", [&] {
    if (spec.slice < 0 && !series.step.empty())
      throw Error(
          fmt::format("option --encodings, {}: {} holds a series, expected a matrix in each file of a pattern", spec.name, spec.path));
  });
  return slice(context, series, std::max<Index>(spec.slice, 0));
}

FileMatrix EncodingFiles::weight(const StageContext& context, const EncodingSpec& spec, const MatrixSource& source) {
  const FileSeries& weight = file(context, spec.name, source, {});
  collective(context.comm, "reading a weight", [&] {
    if (!weight.step.empty())
      throw Error(fmt::format("option --encodings, {}: {} holds a series, expected one weight matrix", spec.name, source.path));
  });
  return slice(context, weight, 0);
}

}  // namespace posgeom
