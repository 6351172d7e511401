// Google Benchmark as what runs one sample of an op: it finds out how many launches a sample needs, drives
// them, and reports through our reporter into our structs.
//
// Which sample is next, and when there are enough, is not left to it. Its repetitions are a fixed number, and
// its random interleaving is seeded by the machine and knows neither pairs nor a stopping rule. So a sample
// is one repetition of one benchmark, chosen by its filter, and rounds.hpp asks for it as for any other
// series.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace branchmark::ops {

// One repetition; times are for one launch.
struct Repetition {
  std::string name;  // the case's key, then what Google Benchmark adds
  std::int64_t num_launches = 0;
  double manual_ns = 0;                    // what the body measured: State::SetIterationTime
  std::map<std::string, double> counters;  // State::counters, as the body set them
};

// Takes what is reported; prints nothing.
class RepetitionReporter final : public benchmark::BenchmarkReporter {
 public:
  RepetitionReporter();

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  const std::vector<Repetition>& repetitions() const { return repetitions_; }

 private:
  std::vector<Repetition> repetitions_;
  std::ostream nowhere_{nullptr};
};

// The benchmarks of a block. Google Benchmark keeps one list a process, so there is one of these at a time.
// Used by one thread.
class BenchmarkRegistry {
 public:
  // Measures by State::SetIterationTime, once, after a loop over State. Must not throw.
  using Body = std::function<void(benchmark::State&)>;

  BenchmarkRegistry();
  ~BenchmarkRegistry();
  BenchmarkRegistry(const BenchmarkRegistry&) = delete;
  BenchmarkRegistry& operator=(const BenchmarkRegistry&) = delete;

  // How many launches take `min_ns` together: a power of two, at most `max_launches`, 0 where the body gave
  // up. Asked several times, and the most counts: a neighbour that makes one launch long would make a short
  // batch.
  std::int64_t calibrate(const std::string& key, double min_ns, std::int64_t max_launches, const Body& body);

  // Adds the benchmark `key` with so many launches a sample.
  void add(const std::string& key, std::int64_t launches, const Body& body);

  // One sample. Throws internal where Google Benchmark ran anything but that.
  Repetition run(const std::string& key);

 private:
  Repetition run_one(const std::string& filter);
};

// An extended regular expression that matches this benchmark's name and no other's.
std::string filter_for(const std::string& name);

}  // namespace branchmark::ops
