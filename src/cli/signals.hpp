#pragma once

namespace posgeom::cli {

/// SIGTERM and SIGUSR1 from now on only set a flag, which the pipeline asks for between and inside stages.
void catch_stop_signals();

/// They end this process again, at once, one that came before included: for commands that keep nothing.
void die_of_stop_signals();

/// Whether one of them has come to this rank.
bool stop_requested();

}  // namespace posgeom::cli
