#include "workers.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace branchmark::cpu {
namespace {

int64_t usable_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware > 0 ? static_cast<int64_t>(hardware) : 1;
}

// Items are taken several at a time, so that the counter is not what the threads compete for, yet in enough
// pieces that an uneven load evens out.
constexpr int64_t kPiecesPerThread = 16;

}  // namespace

// A run is entered through a gate that its caller opens and closes. The caller takes part itself and waits
// only for threads that are inside when nothing is left to take: one that the system wakes late finds the
// gate closed, so a small run on a busy machine does not wait for it.
struct Workers::State {
  static constexpr uint32_t kOpen = 1u << 31;

  std::mutex one_run_at_a_time;

  // The run at hand; written while the gate is closed and nobody is inside.
  Body body = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t piece = 1;
  std::atomic<int64_t> next{0};

  std::atomic<uint32_t> gate{0};  // kOpen, plus the number of threads inside
  std::atomic<uint32_t> generation{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;

  void take_items(int64_t worker) {
    for (;;) {
      const int64_t first = next.fetch_add(piece, std::memory_order_relaxed);
      if (first >= count) return;
      const int64_t end = std::min(first + piece, count);
      for (int64_t item = first; item < end; ++item) body(context, item, worker);
    }
  }

  bool enter() {
    uint32_t value = gate.load(std::memory_order_relaxed);
    while ((value & kOpen) != 0) {
      if (gate.compare_exchange_weak(value, value + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() {
    if (gate.fetch_sub(1, std::memory_order_release) == 1) gate.notify_one();
  }

  void close_and_wait() {
    uint32_t inside = gate.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    while (inside != 0) {
      gate.wait(inside, std::memory_order_acquire);
      inside = gate.load(std::memory_order_acquire);
    }
  }

  void serve(int64_t worker) {
    uint32_t seen = 0;
    for (;;) {
      generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;
      if (enter()) {
        take_items(worker);
        leave();
      }
    }
  }

  void wake() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }

  void join() {
    stop.store(true, std::memory_order_relaxed);
    wake();
    for (std::thread& thread : threads) thread.join();
  }
};

Workers::Workers(int64_t num_threads) : state_(new State) {
  const int64_t total = num_threads > 0 ? num_threads : usable_threads();
  try {
    for (int64_t worker = 1; worker < total; ++worker) {
      state_->threads.emplace_back([state = state_, worker] { state->serve(worker); });
    }
  } catch (...) {
    state_->join();
    delete state_;
    throw;
  }
}

Workers::~Workers() {
  state_->join();
  delete state_;
}

int64_t Workers::num_threads() const {
  return static_cast<int64_t>(state_->threads.size()) + 1;
}

void Workers::run(int64_t count, Body body, void* context) {
  if (count <= 0) return;
  const std::lock_guard<std::mutex> lock(state_->one_run_at_a_time);
  if (count == 1 || state_->threads.empty()) {
    for (int64_t item = 0; item < count; ++item) body(context, item, 0);
    return;
  }
  state_->body = body;
  state_->context = context;
  state_->count = count;
  state_->piece = std::max<int64_t>(count / (num_threads() * kPiecesPerThread), 1);
  state_->next.store(0, std::memory_order_relaxed);
  state_->gate.store(State::kOpen, std::memory_order_release);
  state_->wake();
  state_->take_items(0);
  state_->close_and_wait();
}

}  // namespace branchmark::cpu
