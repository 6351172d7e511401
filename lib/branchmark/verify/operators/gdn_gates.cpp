// gdn_gates: beta rounds once; g stays float32 and is never positive. Rates reach log 16 and softplus
// arguments 50 (K20), and -100, where the decay is nothing.
#include <fmt/format.h>

#include <cmath>

#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/activations.hpp"

namespace branchmark::operators {
namespace {

class GdnGates : public RowOp {
 public:
  GdnGates(Bench& bench, bmk_numerics numerics, std::int64_t rows, std::int64_t heads, bmk_dtype parameter)
      : context_(bench.context),
        numerics_(numerics),
        a_(random_matrix(bench.random, rows, heads, activation_of(numerics), 4.0f)),
        b_(random_matrix(bench.random, rows, heads, activation_of(numerics), 3.0f)),
        a_log_(1, heads, parameter),
        dt_bias_(random_matrix(bench.random, 1, heads, parameter, 1.0f)) {
    for (std::int64_t head = 0; head < heads; ++head)
      a_log_.at(0, head) = stored(
          static_cast<float>(std::log(16.0 * static_cast<double>(head + 1) / static_cast<double>(heads))),
          parameter);
    const float extremes[] = {50.0f, 20.0f, 19.875f, 0.0f, -20.0f, -50.0f, -87.5f, -100.0f};
    for (std::size_t i = 0; i < std::size(extremes); ++i) {
      // On the last head, whose rate is the largest, once the bias is taken off.
      const auto row = static_cast<std::int64_t>(i);
      a_.at(row, heads - 1) = stored(extremes[i] - dt_bias_.at(0, heads - 1), a_.dtype);
      b_.at(row, heads - 1) = extremes[i];
    }
    device_a_.emplace(context_, a_);
    device_b_.emplace(context_, b_);
    device_a_log_.emplace(context_, a_log_);
    device_dt_bias_.emplace(context_, dt_bias_);
  }

  std::vector<Output> outputs() const override { return {{"g", a_.columns}, {"beta", a_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix g(context_, rows, a_.columns, BMK_F32);
    const DeviceMatrix beta(context_, rows, a_.columns, BMK_F32);
    run_op(*context_, "gdn_gates", context_->table().ops->gdn_gates,
           bmk_gdn_gates_args{.struct_size = sizeof(bmk_gdn_gates_args),
                              .numerics = numerics_,
                              .reserved = 0,
                              .a = rows_of(device_a_->view(), first, rows),
                              .b = rows_of(device_b_->view(), first, rows),
                              .a_log = device_a_log_->view(),
                              .dt_bias = device_dt_bias_->view(),
                              .g = g.view(),
                              .beta = beta.view()});
    return {g.download(verdict, "g"), beta.download(verdict, "beta")};
  }

  std::vector<oracle::Expected> expected() const override {
    return {oracle::gdn_decay(a_, a_log_, dt_bias_), oracle::gdn_beta(b_)};
  }

  void check_further(Verdict& verdict, const std::vector<HostMatrix>& found) override {
    for (std::int64_t i = 0; i < found[0].size(); ++i)
      if (const float g = found[0].values[static_cast<std::size_t>(i)]; g > 0)
        verdict.fail("positive_decay",
                     fmt::format("g row {}, column {}: found {}, expected no positive value",
                                 i / found[0].columns, i % found[0].columns, g));
  }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix a_;
  HostMatrix b_;
  HostMatrix a_log_;
  HostMatrix dt_bias_;
  std::optional<DeviceMatrix> device_a_;
  std::optional<DeviceMatrix> device_b_;
  std::optional<DeviceMatrix> device_a_log_;
  std::optional<DeviceMatrix> device_dt_bias_;
};

}  // namespace

void add_gdn_gates(CaseList& list) {
  const std::int64_t heads = list.full() ? 32 : 12;
  for (const auto numerics : kAllNumerics)
    for (const auto parameter : {BMK_BF16, BMK_F32})
      add_row_op(list, {"gdn_gates",
                        numerics,
                        {{"value_heads", heads}, {"parameters", name_of(parameter)}},
                        [=](Bench& bench, std::int64_t rows) {
                          return std::make_unique<GdnGates>(bench, numerics, rows, heads, parameter);
                        }});
}

}  // namespace branchmark::operators
