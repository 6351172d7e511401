// The measurements behind the op cases of a run, block by block, as BenchRun has them for the model's: the
// cases of an op (of a projection) are sampled in the same rounds, on both sides where there are two, when
// the first of them runs. Operands live as long as their block is being measured. Used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/bench/bench_run.hpp"
#include "branchmark/bench/ops/measured_op.hpp"

namespace branchmark::ops {

class OpRun {
 public:
  // Touches no device.
  OpRun(std::shared_ptr<Session> session, BenchOptions options);

  struct Request {
    OpSpec spec;
    std::size_t side = 0;
    std::string key;  // of the case on this side
  };
  // What a case keeps as long as it may run; what no case keeps is not measured.
  std::shared_ptr<const Request> want(const OpSpec& spec, std::size_t side);
  // Takes the measurements of the request's block first where that has not been done.
  const MeasuredOp& measured(const Request& request);
  // As BenchRun::planned_s.
  double planned_s(const std::string& block) const;

  BenchSides& sides() { return sides_; }
  const Scenario& scenario() const { return sides_.scenario(); }

 private:
  using Block = std::map<std::string, std::unique_ptr<MeasuredOp>>;  // by key
  std::vector<std::shared_ptr<const Request>> requests_of(const std::string& block) const;
  Block measure(const std::string& name);
  void sample(const std::string& name, const std::vector<SeriesGroup>& groups) const;

  BenchSides sides_;
  BenchOptions options_;
  std::vector<std::weak_ptr<const Request>> requests_;
  std::map<std::string, Block> blocks_;
};

}  // namespace branchmark::ops
