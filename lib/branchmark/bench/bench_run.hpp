// The measurements behind the cases of a run.
//
// Cases are reported one by one, but their samples are taken side by side (rounds.hpp). So the cases of a
// block (all single passes; all shared cases of one prefix length) share its measurements, which are taken
// when the first of them runs: that case lasts as long as the block, and the others hand out what is there. A
// block holds everything that its cases are compared with. Several blocks rather than one, so that a run that
// dies keeps those that finished, and a person sees results before the end.
//
// What is measured is what some case can still ask for: a case holds a Request, and a workload without a
// living Request (its cases were not selected) is left out. With two builds of the kernel module, a workload
// is measured on both sides by turns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/bench/measured.hpp"
#include "branchmark/bench/sides.hpp"

namespace branchmark {

struct BenchOptions {
  // Another build of the kernel module to be measured beside the run's own; absent: the own alone.
  std::optional<std::filesystem::path> against = {};
  // Told in one line how far a block is; absent: nobody is.
  std::function<void(const std::string&)> progress = {};
};

// What a scenario asks of sampling.
RoundsOptions rounds_options(const ScenarioBench& bench);
// How long a series will take, before it has begun.
double expected_s(const ScenarioBench& bench);

class BenchRun {
 public:
  // Touches no device.
  BenchRun(std::shared_ptr<Session> session, BenchOptions options);

  struct Request {
    std::string block;
    WorkloadSpec spec;
    std::size_t side = 0;
  };
  // What a case keeps as long as it may run.
  std::shared_ptr<const Request> want(const std::string& block, const WorkloadSpec& spec, std::size_t side);

  // Whether the device can run it: graphs are not everywhere.
  bool supports(const Request& request);
  // The measurement of a request that is supported; takes those of its block first where that has not been
  // done.
  Measured& measured(const Request& request);
  // Another workload of the request's side, measured now where it has not been; null where it was not
  // selected.
  const Measured* find(const Request& beside, const WorkloadSpec& spec);

  BenchSides& sides() { return sides_; }
  const BenchSides& sides() const { return sides_; }
  const Scenario& scenario() const { return sides_.scenario(); }

  // How long a case of the block will take if it runs next: the block's time, as far as that is known before
  // it has begun; 0 where the block has been measured, or for no block.
  double planned_s(const std::string& block) const;

 private:
  // Both sides of a workload stand beside each other.
  using Block = std::map<std::pair<WorkloadSpec, std::size_t>, std::unique_ptr<Measured>>;
  Block measure(const std::string& name);
  Block make_block(const std::string& name);

  BenchSides sides_;
  BenchOptions options_;
  std::vector<std::weak_ptr<const Request>> requests_;
  std::map<std::string, Block> blocks_;
};

}  // namespace branchmark
