// One op on one side being measured.
//
// A sample is a batch of launches: most ops are shorter than a clock can tell. On a GPU it is launched twice,
// first on an idle stream, which gives the wall time of a launch when many are queued one after another, then
// behind filler work, between two events, which gives the device's time. On a CPU one batch gives both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "branchmark/bench/bench_device.hpp"
#include "branchmark/bench/ops/google_benchmark.hpp"
#include "branchmark/bench/ops/op_list.hpp"
#include "branchmark/bench/rounds.hpp"
#include "branchmark/verify/session.hpp"

namespace branchmark::ops {

class MeasuredOp {
 public:
  // `key` is the benchmark's name; the registry and the pool must last until finish(). The session's run is
  // the one that records the outputs.
  MeasuredOp(std::shared_ptr<const Session> session, std::shared_ptr<BenchDevice> device, OpSpec spec,
             std::string key);

  Series& series() { return series_; }
  const Series& series() const { return series_; }

  // Makes the operands, keeps the digests of a first launch, and finds out how many launches make a sample.
  // What it throws is kept in the series.
  void prepare(BenchmarkRegistry& registry, OperandPool& pool);
  // Before the samples. Ops that are compared take the same number: a batch has costs that are not a
  // launch's.
  void set_num_launches(BenchmarkRegistry& registry, std::int64_t count);
  // After the samples: launches once more, compares, and frees the operands.
  void finish();
  // Throws what ended the series, if something did.
  void rethrow() const;

  const BenchDevice& device() const { return *device_; }
  double flop() const { return flop_; }
  double bytes() const { return bytes_; }
  std::int64_t num_launches() const { return num_launches_; }  // a sample

  // sha256 of each output of a launch, rows without padding.
  const std::vector<std::string>& digests() const { return digests_; }
  // Further launches whose outputs were compared with the first one's, and how many had other bits.
  std::int64_t num_repeated() const { return num_repeated_; }
  std::int64_t num_unstable() const { return num_unstable_; }
  // Values of the outputs that are NaN or infinite: also those that were not written.
  std::int64_t num_non_finite() const { return num_non_finite_; }

 private:
  // The outputs of one launch, rows without padding.
  using Outputs = std::vector<std::vector<std::byte>>;
  Outputs launch_once();
  void keep(const Outputs& first);
  void repeat();
  void run(benchmark::State& state);
  Sample take(BenchmarkRegistry& registry);

  std::shared_ptr<const Session> session_;
  std::shared_ptr<BenchDevice> device_;
  OpSpec spec_;
  std::string key_;
  Series series_;
  std::unique_ptr<Operands> operands_;
  std::function<void()> launch_;
  double flop_ = 0;
  double bytes_ = 0;
  std::int64_t num_launches_ = 0;
  std::vector<std::string> digests_;
  std::vector<std::size_t> hashes_;
  std::int64_t num_repeated_ = 0;
  std::int64_t num_unstable_ = 0;
  std::int64_t num_non_finite_ = 0;
  // Of the latest run: Google Benchmark passes no exception on.
  std::optional<Telemetry> state_;
  std::exception_ptr thrown_;
};

}  // namespace branchmark::ops
