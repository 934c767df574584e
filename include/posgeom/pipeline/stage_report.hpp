#pragma once
#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "posgeom/pipeline/config.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// What a stage, or a part of one, took.
struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// Tells a person what the pipeline does: one line a finished stage, progress in between. Speaks on the root only.
class StageReport {
 public:
  /// `out`: where to write, null on all ranks but the root. `terminal`: whether a person may be watching (for Progress::automatic).
  StageReport(std::ostream* out, Progress progress, bool terminal);

  /// A line as it is.
  void line(const std::string& text);
  /// Starts the clock of a stage.
  void begin(const std::string& stage);
  /// A line with the stage, its seconds and `detail`.
  void end(const std::string& detail);
  /// How far the stage is: a bar on a terminal, a line a minute in a log. `detail` is appended.
  void progress(double fraction, const std::string& detail);
  /// Times a part of a stage, without a line.
  void took(const std::string& part, double seconds) { times_.push_back({part, seconds}); }
  /// Every stage that has ended, and every part, in order; kept on all ranks.
  const std::vector<StageTime>& times() const { return times_; }

 private:
  double seconds() const;
  void clear_bar();

  std::ostream* out_;
  Progress progress_;
  std::string stage_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  bool bar_shown_ = false;
  std::vector<StageTime> times_;
};

}  // namespace posgeom
