// The supervisor's hold on a worker process: start, read, stop. Used by one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "worker.hpp"

namespace branchmark::app {

class WorkerProcess {
 public:
  // Starts this program again, with the same arguments and `job`. Throws io where that cannot be done.
  WorkerProcess(const std::vector<std::string>& argv, const WorkerJob& job);
  // Kills it where it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  enum class Read { line, end, timeout, woken };
  // Waits for the worker's next line, at most until `deadline` or until `wake_descriptor` is readable. `end`:
  // the worker has closed the pipe; a line that it left unfinished is dropped. Time for which this process
  // was stopped (Ctrl-Z) does not count: the deadline moves on by it.
  Read read_line(std::string& line, std::chrono::steady_clock::time_point& deadline, int wake_descriptor);

  // How the worker ended; empty where it ended well.
  struct End {
    std::string id;    // "worker_signal", "worker_exit", "worker_stuck"
    std::string text;  // "was ended by SIGSEGV"
    bool ended_well() const { return id.empty(); }
  };
  // Waits for an end that has come or is near. A worker that is not there by `deadline`, or when
  // `wake_descriptor` is readable, is killed; in the second case that counts as a good end.
  End wait(std::chrono::steady_clock::time_point deadline, int wake_descriptor);
  // Kills it. False where even that did not end it in a few seconds: the device holds on to it.
  bool kill() noexcept;

 private:
  bool reap(std::chrono::steady_clock::time_point deadline, int wake_descriptor = -1) noexcept;

  pid_t pid_ = -1;
  int messages_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::string buffer_;
  std::size_t read_to_ = 0;
};

}  // namespace branchmark::app
