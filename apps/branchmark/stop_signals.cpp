#include "stop_signals.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

namespace branchmark::app {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

// What the handler may touch: there is no other way to reach it.
std::atomic<int> first_signal{0};
std::array<int, 2> wake_pipe = {-1, -1};
std::array<struct sigaction, kSignals.size()> before;

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use nothing else");

extern "C" void remember_signal(int number) {
  const int error = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) _exit(128 + number);
  static_cast<void>(!write(wake_pipe[1], "", 1));
  errno = error;
}

}  // namespace

StopSignals::StopSignals() {
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  first_signal = 0;
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  for (int& end : wake_pipe) {
    close(end);
    end = -1;
  }
}

int StopSignals::received() const noexcept {
  return first_signal;
}

int StopSignals::descriptor() const noexcept {
  return wake_pipe[0];
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace branchmark::app
