// Finds the first op of a pass whose output holds a NaN or an infinity.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/model/observer.hpp"

namespace branchmark {

class NonFiniteSearch : public PassObserver {
 public:
  explicit NonFiniteSearch(std::shared_ptr<Context> context);

  void begin_pass(const std::vector<RunRows>& runs) override { runs_ = runs; }
  bool wants(std::int64_t, std::string_view) const override { return place_.empty(); }
  void observe(Context& context, std::int64_t layer, std::string_view op, const bmk_matrix& out) override;

  // Names layer, op, row (run and position) and column of the first hit, or says that a second run found
  // none.
  std::string message() const;

 private:
  std::vector<RunRows> runs_;
  DeviceBuffer first_index_;
  std::string place_;
};

}  // namespace branchmark
