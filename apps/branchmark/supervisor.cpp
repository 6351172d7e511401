#include "supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMinLimit_s = 120;
constexpr double kTimesPlanned = 30;
constexpr double kTimesForOpening = 10;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

std::optional<Exit> Supervisor::run() {
  Next next = Next::worker;
  while (next == Next::worker) {
    any_begun_ = false;
    WorkerProcess worker(options_.argv, options_.job);
    wait_at_most(kTimesForOpening * case_limit_s(0));
    next = follow(worker);
  }
  return exit_;
}

Supervisor::Next Supervisor::follow(WorkerProcess& worker) {
  WorkerMessage message;
  for (std::string line;;) {
    switch (worker.read_line(line, deadline_, signals_.descriptor())) {
      case WorkerProcess::Read::line:
        try {
          message = read_message(line);
        } catch (const Error& error) {
          return unreadable(worker, error);
        }
        take(std::move(message));
        if (exit_) return Next::nothing;
        break;
      case WorkerProcess::Read::end:
        return lost(worker);
      case WorkerProcess::Read::timeout:
        return timed_out(worker);
      case WorkerProcess::Read::woken:
        return interrupted(worker);
    }
  }
}

void Supervisor::take(WorkerMessage message) {
  switch (message.type) {
    case WorkerMessage::Type::opened:
      // A later worker opens what the first one has opened.
      if (num_cases_ < 0) events_.opened(message.report, message.num_cases, message.note);
      num_cases_ = message.num_cases;
      wait_at_most(case_limit_s(0));
      break;
    case WorkerMessage::Type::begins:
      any_begun_ = true;
      began_at_ = Clock::now();
      wait_at_most(case_limit_s(message.planned_s));
      events_.begins(message.record, message.planned_s);
      running_ = std::move(message.record);
      break;
    case WorkerMessage::Type::ended:
      longest_s_ = std::max(longest_s_, seconds_since(began_at_));
      running_.reset();
      ++options_.job.first;
      wait_at_most(case_limit_s(0));
      events_.ended(std::move(message.record));
      break;
    case WorkerMessage::Type::closing:
      closed_ = true;
      wait_at_most(case_limit_s(0));
      events_.closing(message.report);
      break;
    case WorkerMessage::Type::failed:
      // 70 is for faults of this process.
      if (message.code != ErrorCode::internal) throw Error(message.code, message.message);
      stop(kExitCheckFailed, message.message);
      break;
  }
}

Supervisor::Next Supervisor::interrupted(WorkerProcess& worker) {
  worker.kill();
  if (running_)
    give_up(Outcome::interrupted,
            {"interrupted", Severity::error,
             fmt::format("{} ended the run while this case ran", signal_name(signals_.received())), ""});
  return Next::nothing;
}

Supervisor::Next Supervisor::timed_out(WorkerProcess& worker) {
  const bool killed = worker.kill();
  const auto limit = fmt::format("{:.4g} s", limit_s_);
  if (!running_)
    return stop(kExitHang, any_begun_
                               ? fmt::format("the worker neither went on nor ended within {}", limit)
                               : fmt::format("device and model were not open after {}, ten times what a case "
                                             "may take; --case-timeout allows more",
                                             limit));
  const auto key = running_->key();
  const auto next = give_up(
      Outcome::timeout,
      {"timeout", Severity::error, fmt::format("the case had not ended after {} and was killed", limit),
       fmt::format("allow more with --case-timeout, or look where it stands: {} --in-process",
                   options_.repeat(key))});
  if (killed) return next;
  return stop(kExitHang, fmt::format("the worker cannot be killed: the device holds on to it since {}", key));
}

Supervisor::Next Supervisor::lost(WorkerProcess& worker) {
  wait_at_most(case_limit_s(0));
  auto end = worker.wait(deadline_, signals_.descriptor());
  if (signals_.received() != 0) return interrupted(worker);
  if (end.ended_well() && (closed_ || any_begun_) && !running_)
    return closed_ || !may_continue() ? Next::nothing : Next::worker;
  if (end.ended_well()) end = {"worker_exit", "ended with exit code 0"};
  if (running_) {
    const auto repeat = options_.repeat(running_->key());
    return give_up(
        Outcome::error,
        {end.id, Severity::error, fmt::format("the worker process {} while this case ran", end.text),
         fmt::format("run the case alone in a debugger: {} --in-process", repeat)});
  }
  if (any_begun_ && !closed_ && may_continue()) return Next::worker;
  return stop(kExitCheckFailed, fmt::format("the worker process {} {}", end.text,
                                            any_begun_ ? "after its last case" : "before its first case"));
}

Supervisor::Next Supervisor::unreadable(WorkerProcess& worker, const Error& error) {
  worker.kill();
  const auto what =
      fmt::format("the worker process sent what is no message and was killed: {}", error.what());
  return running_ ? give_up(Outcome::error, {"worker_message", Severity::error, what, ""})
                  : stop(kExitCheckFailed, what);
}

Supervisor::Next Supervisor::give_up(Outcome outcome, Finding finding) {
  CaseRecord record = *running_;
  running_.reset();
  ++options_.job.first;
  record.outcome = outcome;
  record.findings = {std::move(finding)};
  record.duration_ns = 1e9 * seconds_since(began_at_);
  events_.ended(std::move(record));
  return may_continue() ? Next::worker : Next::nothing;
}

Supervisor::Next Supervisor::stop(int code, const std::string& reason) {
  exit_ = make_exit(code, reason);
  return Next::nothing;
}

void Supervisor::wait_at_most(double seconds) {
  limit_s_ = seconds;
  deadline_ =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double Supervisor::case_limit_s(double planned_s) const {
  if (options_.case_timeout_s) return *options_.case_timeout_s;
  return std::max(kMinLimit_s, kTimesPlanned * (planned_s > 0 ? planned_s : longest_s_));
}

bool Supervisor::may_continue() const {
  return options_.job.first < num_cases_ && Clock::now() < options_.job.deadline;
}

}  // namespace branchmark::app
