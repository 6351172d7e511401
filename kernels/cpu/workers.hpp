// The threads of one CPU device.
//
// Work is a number of independent items (rows, heads, blocks of columns); which thread takes which item never
// changes a bit, because no sum is ever split between two threads. The calling thread takes part as worker 0.
// Several host threads may call at the same time: their runs follow one another.
//
// Bodies must not throw and must not call back into the same Workers.
#pragma once

#include <cstdint>

namespace branchmark::cpu {

class Workers {
 public:
  // Called once for each item in [0, count), in any order. `worker` is below num_threads(); no two calls with
  // the same worker run at the same time, so it may index scratch memory.
  using Body = void (*)(void* context, int64_t item, int64_t worker);

  // `num_threads` counts the calling thread; 0 takes as many as the process may use. Throws std::system_error
  // where a thread cannot be started.
  explicit Workers(int64_t num_threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int64_t num_threads() const;

  // Returns when every item is done.
  void run(int64_t count, Body body, void* context);

 private:
  struct State;
  State* state_;
};

// Calls function(item) or function(item, worker) for each item in [0, count). Passes a capturing lambda to
// Workers::run; the lambda's type is local to its caller, so each instruction set gets its own instance.
template <typename Function>
inline void parallel_for(Workers& workers, int64_t count, const Function& function) {
  const auto body = [](void* context, int64_t item, int64_t worker) {
    const Function& call = *static_cast<const Function*>(context);
    if constexpr (requires { call(item, worker); }) {
      call(item, worker);
    } else {
      call(item);
    }
  };
  workers.run(count, body, const_cast<void*>(static_cast<const void*>(&function)));
}

}  // namespace branchmark::cpu
