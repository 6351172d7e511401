#include "worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "stop_signals.hpp"

namespace branchmark::app {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::io, fmt::format("worker process: {}: {}", what, std::strerror(errno)));
}

// A file without a name that holds the job, read from its beginning.
int write_job(const WorkerJob& job) {
  const int descriptor = memfd_create("branchmark-job", MFD_CLOEXEC);
  if (descriptor < 0) fail("its job cannot be written");
  const auto text = job_text(job);
  for (std::string_view rest = text; !rest.empty();) {
    const auto written = ::write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail("its job cannot be written");
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return descriptor;
}

// Between fork and exec: system calls only. Does not return.
[[noreturn]] void become_worker(char** argv, char** environment, int job, int messages, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before it could be watched.
  if (getppid() != parent) _exit(127);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  fcntl(job, F_SETFD, 0);
  fcntl(messages, F_SETFD, 0);
  execve("/proc/self/exe", argv, environment);
  _exit(127);
}

constexpr std::chrono::milliseconds kLongestWait(1000);

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongestWait).count());
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& argv, const WorkerJob& job) {
  const int job_descriptor = write_job(job);
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    ::close(job_descriptor);
    fail("no pipe");
  }
  std::vector<char*> arguments;
  for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::string variable = fmt::format("{}={},{}", kWorkerVariable, job_descriptor, pipe[1]);
  std::vector<char*> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(variable.data());
  environment.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become_worker(arguments.data(), environment.data(), job_descriptor, pipe[1], parent);
  const int error = errno;
  ::close(job_descriptor);
  ::close(pipe[1]);
  messages_ = pipe[0];
  if (pid_ > 0) return;
  ::close(messages_);
  errno = error;
  fail("cannot be started");
}

WorkerProcess::~WorkerProcess() {
  kill();
  ::close(messages_);
}

WorkerProcess::Read WorkerProcess::read_line(std::string& line, Clock::time_point& deadline,
                                             int wake_descriptor) {
  while (true) {
    if (const auto end = buffer_.find('\n', read_to_); end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      read_to_ = 0;
      return Read::line;
    }
    read_to_ = buffer_.size();
    std::array<pollfd, 2> watched = {{{messages_, POLLIN, 0}, {wake_descriptor, POLLIN, 0}}};
    const auto start = Clock::now();
    const int ready = poll(watched.data(), watched.size(), milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) fail("cannot be waited for");
    // A wait that took longer than the longest one was not spent waiting.
    if (const auto passed = Clock::now() - start; passed > 3 * kLongestWait) deadline += passed;
    if (ready < 0) continue;
    if (ready == 0 && Clock::now() < deadline) continue;
    if (ready == 0) return Read::timeout;
    if (watched[1].revents != 0) return Read::woken;
    std::array<char, 1 << 16> block;
    const auto got = ::read(messages_, block.data(), block.size());
    if (got < 0 && errno != EINTR) fail("cannot be read from");
    if (got == 0) return Read::end;
    if (got > 0) buffer_.append(block.data(), static_cast<std::size_t>(got));
  }
}

bool WorkerProcess::reap(Clock::time_point deadline, int wake_descriptor) noexcept {
  while (!reaped_) {
    const pid_t found = waitpid(pid_, &status_, WNOHANG);
    reaped_ = found == pid_ || (found < 0 && errno == ECHILD);
    if (!reaped_ && Clock::now() >= deadline) return false;
    pollfd wake = {wake_descriptor, POLLIN, 0};
    if (!reaped_ && poll(&wake, 1, 2) > 0) return false;
  }
  return true;
}

bool WorkerProcess::kill() noexcept {
  if (reap(Clock::time_point::min())) return true;
  ::kill(pid_, SIGKILL);
  return reap(Clock::now() + std::chrono::seconds(10));
}

WorkerProcess::End WorkerProcess::wait(Clock::time_point deadline, int wake_descriptor) {
  if (!reap(deadline, wake_descriptor)) {
    const bool too_late = Clock::now() >= deadline;
    kill();
    return too_late ? End{"worker_stuck", "did not end"} : End{};
  }
  if (WIFSIGNALED(status_)) {
    const int number = WTERMSIG(status_);
    return {"worker_signal", fmt::format("was ended by {} ({})", signal_name(number), strsignal(number))};
  }
  if (WEXITSTATUS(status_) != 0)
    return {"worker_exit", fmt::format("ended with exit code {}", WEXITSTATUS(status_))};
  return {};
}

}  // namespace branchmark::app
