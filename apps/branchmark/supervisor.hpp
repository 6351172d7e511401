// Running cases in a worker process that can be lost: a case that crashes, hangs or takes its process with it
// costs only itself.
//
// A worker that dies or is killed in the middle of a case leaves that case with the outcome `error` (the
// signal named) or `timeout`, and a fresh worker continues with the next one. A worker that does not get as
// far as a case ends the run. A case may take --case-timeout; by default 30 times its planned time, which is
// what the case says or else the time of the longest case so far, and at least 120 s. Opening device and
// model may take ten times that.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/report/exit_code.hpp"
#include "run_events.hpp"
#include "stop_signals.hpp"
#include "worker_messages.hpp"
#include "worker_process.hpp"

namespace branchmark::app {

struct SupervisorOptions {
  std::vector<std::string> argv;
  WorkerJob job;
  std::optional<double> case_timeout_s;
  // The command that runs the case with this key alone.
  std::function<std::string(const std::string& key)> repeat;
};

class Supervisor {
 public:
  Supervisor(SupervisorOptions options, const StopSignals& signals, RunEvents& events)
      : options_(std::move(options)), signals_(signals), events_(events) {}

  // Returns when every case has its record, the deadline of the job has passed, or a signal has come (the
  // case that ran then is `interrupted`). The result is what else ended the run, if anything did. Throws what
  // the worker says of itself (device not eligible, ...) and what `events` throws.
  std::optional<Exit> run();

 private:
  enum class Next { worker, nothing };

  Next follow(WorkerProcess& worker);
  void take(WorkerMessage message);
  Next interrupted(WorkerProcess& worker);
  Next timed_out(WorkerProcess& worker);
  Next lost(WorkerProcess& worker);
  Next unreadable(WorkerProcess& worker, const Error& error);
  // Ends the running case in the worker's stead.
  Next give_up(Outcome outcome, Finding finding);
  Next stop(int code, const std::string& reason);
  void wait_at_most(double seconds);
  double case_limit_s(double planned_s) const;
  bool may_continue() const;

  SupervisorOptions options_;
  const StopSignals& signals_;
  RunEvents& events_;

  std::int64_t num_cases_ = -1;        // not known before a worker has opened the device
  std::optional<CaseRecord> running_;  // names the case
  std::chrono::steady_clock::time_point began_at_;
  std::chrono::steady_clock::time_point deadline_;  // for the worker's next message
  double limit_s_ = 0;                              // how far ahead that was
  double longest_s_ = 0;
  bool any_begun_ = false;  // by the present worker
  bool closed_ = false;
  std::optional<Exit> exit_;
};

}  // namespace branchmark::app
