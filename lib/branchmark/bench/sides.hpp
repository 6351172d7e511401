// The builds of the kernel module that a run of `bench` measures: the run's own, and with `--against` another
// one in the same process and on the same device. Side `a` is the run's own, side `b` the other; each has its
// context, its weights, its GEMM handles and its ceilings. Used by one thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "branchmark/bench/bench_device.hpp"
#include "branchmark/verify/session.hpp"

namespace branchmark {

class BenchSides {
 public:
  // Touches no device and loads no module.
  BenchSides(std::shared_ptr<Session> own, const std::optional<std::filesystem::path>& against);

  std::size_t size() const { return sessions_.size(); }
  const std::shared_ptr<Session>& session(std::size_t side) const { return sessions_[side]; }
  // What the sides share.
  const Scenario& scenario() const { return sessions_.front()->scenario(); }
  const ModelConfig& config() const { return sessions_.front()->config(); }

  // A case's parameters on this side: `side=a|b` goes to the end where there are two.
  Parameters on_side(Parameters parameters, std::size_t side) const;

  // Opened and its ceilings measured on first use. Throws what Context::open does, and not_eligible where the
  // other build does not run on the run's own device.
  const std::shared_ptr<BenchDevice>& device(std::size_t side);

  // Before a second model is loaded beside the first. Throws not_eligible where its weights do not fit.
  void require_room_for_weights();

 private:
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<std::shared_ptr<BenchDevice>> devices_;
  bool room_checked_ = false;
};

}  // namespace branchmark
