// SIGINT, SIGTERM and SIGHUP while a run has outputs open: the first is remembered, so that a partial report
// can be written; a second one ends the process at once. A signal that was ignored when the program started
// (nohup, a shell's background job) stays ignored.
#pragma once

#include <string>

namespace branchmark::app {

// One at a time; the destructor restores what was there before.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The first one's number, 0 where none has come.
  int received() const noexcept;
  // Readable once one has come.
  int descriptor() const noexcept;
};

// "SIGINT"; "signal 40" for one without a name.
std::string signal_name(int number);

}  // namespace branchmark::app
