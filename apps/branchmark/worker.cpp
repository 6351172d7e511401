#include "worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "branchmark/base/json_view.hpp"
#include "branchmark/scenario/load.hpp"
#include "case_loop.hpp"
#include "worker_messages.hpp"

namespace branchmark::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Descriptors {
  int job = -1;
  int messages = -1;
};

Descriptors take_descriptors() {
  const std::string text = std::getenv(kWorkerVariable);
  unsetenv(kWorkerVariable);
  Descriptors found;
  const char* end = text.data() + text.size();
  const auto comma = std::from_chars(text.data(), end, found.job).ptr;
  if (comma == end || *comma != ',' || std::from_chars(comma + 1, end, found.messages).ptr != end ||
      fcntl(found.job, F_SETFD, FD_CLOEXEC) != 0 || fcntl(found.messages, F_SETFD, FD_CLOEXEC) != 0)
    throw Error(ErrorCode::usage,
                fmt::format("{}: found \"{}\"; it is for processes that branchmark starts itself",
                            kWorkerVariable, text));
  return found;
}

WorkerJob read_job(int descriptor) {
  const auto value = read_json_file(fmt::format("/proc/self/fd/{}", descriptor));
  close(descriptor);
  const JsonView view(value, "job");
  return {view.at("scenario_name").string(), view.at("scenario").string(), view.at("folder").string(),
          view.at("first").integer(0, INT64_MAX),
          Clock::time_point(Clock::duration(view.at("deadline").integer(0, INT64_MAX)))};
}

// Thrown to leave the loop of cases: nothing can be done on this device by this process any more.
struct DeviceLost {};

class WorkerEvents : public RunEvents {
 public:
  WorkerEvents(MessageWriter writer, Clock::time_point deadline) : writer_(writer), deadline_(deadline) {}

  void opened(const Report& facts, std::int64_t num_cases, const std::string& note) override {
    writer_.opened(facts, num_cases, note);
  }
  bool begins(const CaseRecord& named, double planned_s) override {
    if (Clock::now() >= deadline_) return false;
    writer_.begins(named, planned_s);
    return true;
  }
  void ended(CaseRecord record) override {
    writer_.ended(record);
    for (const auto& finding : record.findings)
      if (finding.id == name_of(ErrorCode::hardware_fault)) throw DeviceLost();
  }
  void closing(const Report& facts) override { writer_.closing(facts); }

 private:
  MessageWriter writer_;
  Clock::time_point deadline_;
};

}  // namespace

std::string job_text(const WorkerJob& job) {
  return json_text({{"scenario_name", job.scenario_name},
                    {"scenario", job.scenario},
                    {"folder", job.folder.string()},
                    {"first", job.first},
                    {"deadline", job.deadline.time_since_epoch().count()}},
                   JsonStyle::compact);
}

bool is_worker() {
  return std::getenv(kWorkerVariable) != nullptr;
}

Exit run_worker(const CaseCommand& command, const RunOptions& options) {
  const auto descriptors = take_descriptors();
  // What a kernel module or a library below it prints must not get between the outputs on stdout.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const MessageWriter writer(descriptors.messages);
  try {
    const auto job = read_job(descriptors.job);
    ScenarioOverrides overrides;
    // The expanded text does not say that this path is relative to the working folder.
    overrides.checkpoint = options.overrides.checkpoint;
    const auto scenario = parse_scenario(job.scenario, job.scenario_name, job.folder, overrides);
    WorkerEvents events(writer, job.deadline);
    run_case_loop(command, options, scenario, job.scenario_name, job.first, events);
  } catch (const DeviceLost&) {
    // The supervisor starts another worker for the next case.
  } catch (const std::exception& error) {
    writer.failed(error);
  }
  return make_exit(kExitOk, "");
}

}  // namespace branchmark::app
