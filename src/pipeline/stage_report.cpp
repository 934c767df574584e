#include "posgeom/pipeline/stage_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace posgeom {

using Clock = std::chrono::steady_clock;

namespace {

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  const auto minutes = static_cast<Index>(std::lround(seconds / 60));
  return minutes < 100 ? fmt::format("{} min", minutes) : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

}  // namespace

StageReport::StageReport(std::ostream* out, Progress progress, bool terminal)
    : out_(out),
      progress_(progress != Progress::automatic ? progress
                : terminal                      ? Progress::bar
                                                : Progress::log),
      start_(Clock::now()),
      last_(start_) {}

void StageReport::line(const std::string& text) {
  if (out_ == nullptr) return;
  clear_bar();
  *out_ << text << std::endl;
}

void StageReport::begin(const std::string& stage) {
  stage_ = stage;
  start_ = Clock::now();
  last_ = start_;
}

void StageReport::end(const std::string& detail) {
  times_.push_back({stage_, seconds()});
  line(fmt::format("{:<16} {:8.2f} s  {}", stage_, seconds(), detail));
}

void StageReport::progress(double fraction, const std::string& detail) {
  if (out_ == nullptr || progress_ == Progress::none) return;
  const auto now = Clock::now();
  const std::chrono::duration<double> since = now - last_;
  if (since.count() < (progress_ == Progress::bar ? 0.2 : 60.0)) return;
  last_ = now;
  const double share = std::clamp(fraction, 0.0, 1.0);
  const double left = share > 0 ? seconds() * (1 - share) / share : 0;
  const std::string text = fmt::format("{:<16} {:3.0f} %  {}  {} left", stage_, 100 * share, detail, duration(left));
  if (progress_ == Progress::log) {
    *out_ << text << std::endl;
  } else {
    const auto full = static_cast<std::size_t>(20 * share);
    *out_ << "\r\033[K[" << std::string(full, '#') << std::string(20 - full, '.') << "] " << text << std::flush;
    bar_shown_ = true;
  }
}

double StageReport::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void StageReport::clear_bar() {
  if (bar_shown_) *out_ << "\r\033[K";
  bar_shown_ = false;
}

}  // namespace posgeom
