#include "branchmark/bench/ops/google_benchmark.hpp"

#include <gtest/gtest.h>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

using ops::BenchmarkRegistry;

// A body whose launches take `launch_ns` each by its own word, and that counts them.
BenchmarkRegistry::Body body(double launch_ns, std::int64_t& launches) {
  return [launch_ns, &launches](benchmark::State& state) {
    for (auto _ : state) ++launches;
    state.SetIterationTime(launch_ns * 1e-9 * static_cast<double>(state.max_iterations));
    state.counters["wall_ns"] = 2 * launch_ns;
  };
}

TEST(GoogleBenchmark, ASampleIsOneRepetitionInOurStruct) {
  BenchmarkRegistry registry;
  std::int64_t launches = 0;
  registry.add("op/name=x,tokens=64", 14, body(9e4, launches));
  const auto found = registry.run("op/name=x,tokens=64");
  EXPECT_EQ(launches, 14);
  EXPECT_EQ(found.num_launches, 14);
  EXPECT_NEAR(found.manual_ns, 9e4, 1e-3);
  EXPECT_EQ(found.counters.at("wall_ns"), 18e4);
  EXPECT_EQ(found.name.find("op/name=x,tokens=64/iterations:14"), 0u) << found.name;
}

TEST(GoogleBenchmark, AsManyLaunchesAsTakeTheTimeAskedFor) {
  BenchmarkRegistry registry;
  std::int64_t launches = 0;
  EXPECT_EQ(registry.calibrate("x", 1e6, 256, body(9e4, launches)), 16);
  EXPECT_EQ(registry.calibrate("short", 1e6, 200, body(1, launches)), 200) << "the most allowed";
  EXPECT_EQ(registry.calibrate("long", 1e6, 256, body(1e7, launches)), 1);
}

TEST(GoogleBenchmark, ALongLaunchAmongOthersMakesNoShortBatch) {
  BenchmarkRegistry registry;
  bool first = true;
  const auto disturbed = [&first](benchmark::State& state) {
    for (auto _ : state) continue;
    state.SetIterationTime((first ? 1e7 : 9e4) * 1e-9 * static_cast<double>(state.max_iterations));
    first = false;
  };
  EXPECT_EQ(registry.calibrate("x", 1e6, 256, disturbed), 16);
}

TEST(GoogleBenchmark, NoOtherBenchmarkRuns) {
  BenchmarkRegistry registry;
  std::int64_t launches = 0;
  std::int64_t others = 0;
  registry.add("op/name=x.y,tokens=64", 1, body(1e6, launches));
  for (const auto* other : {"op/name=x.y,tokens=640", "op/name=xzy,tokens=64", "an op/name=x.y,tokens=64"})
    registry.add(other, 1, body(1e6, others));
  registry.run("op/name=x.y,tokens=64");
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(others, 0);
}

TEST(GoogleBenchmark, ABodyThatGivesUpHasNoLaunches) {
  BenchmarkRegistry registry;
  EXPECT_EQ(
      registry.calibrate("none", 1e3, 256, [](benchmark::State& state) { state.SkipWithError("broken"); }),
      0);
}

TEST(GoogleBenchmark, NothingRunIsAnError) {
  BenchmarkRegistry registry;
  EXPECT_THROW(registry.run("unknown"), Error);
}

}  // namespace
}  // namespace branchmark
