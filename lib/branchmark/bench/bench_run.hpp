// The measurements behind the cases of a run.
//
// Cases are reported one by one, but their samples are taken side by side (rounds.hpp). So the cases of a
// block (all single passes; all shared cases of one prefix length) share its measurements, which are taken
// when the first of them runs: that case lasts as long as the block, and the others hand out what is there. A
// block holds everything that its cases are compared with. Several blocks rather than one, so that a run that
// dies keeps those that finished, and a person sees results before the end.
//
// What is measured is what some case can still ask for: a case holds a Request, and a workload without a
// living Request (its cases were not selected) is left out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/bench/measured.hpp"

namespace branchmark {

struct BenchOptions {
  // Told in one line how far a block is; absent: nobody is.
  std::function<void(const std::string&)> progress;
};

class BenchRun {
 public:
  // Touches no device.
  BenchRun(std::shared_ptr<Session> session, BenchOptions options);

  struct Request {
    std::string block;
    WorkloadSpec spec;
  };
  // What a case keeps as long as it may run.
  std::shared_ptr<const Request> want(const std::string& block, const WorkloadSpec& spec);

  // Whether the device can run it: graphs are not everywhere.
  bool supports(const WorkloadSpec& spec);
  // The measurement of a request that is supported; takes those of its block first where that has not been
  // done.
  Measured& measured(const Request& request);
  // Another of the same block, which `measured` has been called for; null where it was not selected.
  const Measured* find(const std::string& block, const WorkloadSpec& spec) const;

  BenchDevice& device();
  const Session& session() const { return *session_; }
  const Scenario& scenario() const { return session_->scenario(); }

  // How long a case of the block will take if it runs next: the block's time, as far as that is known before
  // it has begun; 0 where the block has been measured, or for no block.
  double planned_s(const std::string& block) const;

 private:
  using Block = std::map<WorkloadSpec, std::unique_ptr<Measured>>;
  Block measure(const std::string& name);

  std::shared_ptr<Session> session_;
  BenchOptions options_;
  std::shared_ptr<BenchDevice> device_;
  std::vector<std::weak_ptr<const Request>> requests_;
  std::map<std::string, Block> blocks_;
};

}  // namespace branchmark
