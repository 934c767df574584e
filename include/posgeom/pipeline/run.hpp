#pragma once
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {

/// **Collective**, all of them. The commands; each writes its files into the output directory and tells the report.
/// Throw Error (the same on every rank) as the stages do, and Error (stopped) between stages after a signal.
void run(const StageContext& context);
void count(const StageContext& context);
void embed(const StageContext& context);
void stress(const StageContext& context);
void collect(const StageContext& context);
void tokenize(const StageContext& context);
void synth(const StageContext& context);
/// run(), everything made anew, with its times as CSV: a heading and a line a length on the report, and the lines appended to
/// OUT/bench.csv. Columns: README, the table of commands.
void bench(const StageContext& context);

}  // namespace posgeom
