// The worker process: runs the cases of one scenario for a supervisor, which started it with the arguments of
// the command, a job in a file without a name, and a pipe for its messages (worker_messages.hpp). It leaves
// SIGINT and the like to the supervisor, and dies with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "run_cases.hpp"

namespace branchmark::app {

struct WorkerJob {
  std::string scenario_name;  // as it stands on the command line
  std::string scenario;       // expanded, with the overrides in it
  std::filesystem::path folder;
  std::int64_t first = 0;  // the case to begin with
  // No case begins after it; time_point::max() for no such time. The clock is the same in both processes.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// "BRANCHMARK_WORKER=<job descriptor>,<message descriptor>", set for a worker only.
inline constexpr const char* kWorkerVariable = "BRANCHMARK_WORKER";

std::string job_text(const WorkerJob& job);

// True in a worker process, which then does nothing but run_worker.
bool is_worker();
// Takes the job and the pipe from the environment and runs the cases. The result only tells that the messages
// have been sent; it has no reason to print.
Exit run_worker(const CaseCommand& command, const RunOptions& options);

}  // namespace branchmark::app
