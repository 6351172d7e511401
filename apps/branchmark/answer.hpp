// What a command prints because it was asked to and nothing more: --help, --version, --list, reference.
#pragma once

#include <string_view>

namespace branchmark::app {

// Writes to stdout in full, or throws io. A reader that has gone (`branchmark --help | head -1`) ends the
// program with SIGPIPE, as it ends other tools: call it where no run is going on and no output is open.
void answer(std::string_view text);

}  // namespace branchmark::app
