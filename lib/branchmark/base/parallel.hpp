// Spreads independent host work over the machine's threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace branchmark {

// Calls work(i) for each i in [0, count), each once, in any order, on any thread; returns when all are done.
// `work` does not throw, and calls for different i touch different results.
template <class Work>
void parallel_for(std::int64_t count, const Work& work) {
  const auto num_threads =
      std::min<std::int64_t>(count, std::max<std::int64_t>(1, std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (auto i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < num_threads; ++i) helpers.emplace_back(run);
  run();
}

}  // namespace branchmark
