// add_rms_norm: the new residual is one float32 sum and one rounding, so exact; the norm is held to the
// oracle of the rounded residual, and to the bits that rms_norm gives for it.
#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/norms.hpp"

namespace branchmark::operators {
namespace {

constexpr float kEps = 1e-6f;

class AddRmsNorm : public RowOp {
 public:
  AddRmsNorm(Bench& bench, bmk_numerics numerics, std::int64_t rows, std::int64_t columns)
      : context_(bench.context),
        numerics_(numerics),
        residual_(random_matrix(bench.random, rows, columns, activation_of(numerics), 4.0f)),
        delta_(random_matrix(bench.random, rows, columns, activation_of(numerics))),
        weight_(random_matrix(bench.random, 1, columns, BMK_BF16, 0.25f)),
        sum_(residual_),
        device_delta_(context_, delta_),
        device_weight_(context_, weight_) {
    for (std::size_t i = 0; i < sum_.values.size(); ++i)
      sum_.values[i] = stored(residual_.values[i] + delta_.values[i], sum_.dtype);
  }

  std::vector<Output> outputs() const override { return {{"residual", sum_.columns}, {"out", sum_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix residual(context_, rows_of(residual_, first, rows));
    const DeviceMatrix out(context_, rows, sum_.columns, sum_.dtype);
    run_op(*context_, "add_rms_norm", context_->table().ops->add_rms_norm,
           bmk_add_rms_norm_args{.struct_size = sizeof(bmk_add_rms_norm_args),
                                 .numerics = numerics_,
                                 .eps = kEps,
                                 .residual = residual.view(),
                                 .delta = rows_of(device_delta_.view(), first, rows),
                                 .weight = device_weight_.view(),
                                 .out = out.view()});
    return {residual.download(verdict, "residual"), out.download(verdict, "out")};
  }

  std::vector<oracle::Expected> expected() const override {
    oracle::Expected sum(sum_.rows, sum_.columns);
    for (std::size_t i = 0; i < sum_.values.size(); ++i)
      sum.values[i] = oracle::exactly(double{sum_.values[i]});
    return {sum, oracle::rms_norm(sum_, weight_, kEps)};
  }

  void check_further(Verdict& verdict, const std::vector<HostMatrix>& found) override {
    verdict.plan(sum_.rows, sum_.columns);
    const DeviceMatrix sum(context_, sum_);
    const DeviceMatrix out(context_, sum_.rows, sum_.columns, sum_.dtype);
    run_op(*context_, "rms_norm", context_->table().ops->rms_norm,
           bmk_rms_norm_args{.struct_size = sizeof(bmk_rms_norm_args),
                             .numerics = numerics_,
                             .eps = kEps,
                             .x = sum.view(),
                             .weight = device_weight_.view(),
                             .out = out.view()});
    verdict.same_bits("out", out.download(verdict, "rms_norm out"), found[1],
                      "rms_norm of the same residual");
  }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix residual_;
  HostMatrix delta_;
  HostMatrix weight_;
  HostMatrix sum_;
  DeviceMatrix device_delta_;
  DeviceMatrix device_weight_;
};

}  // namespace

void add_add_rms_norm(CaseList& list) {
  const std::int64_t columns = list.full() ? 4096 : 1024;
  for (const auto numerics : kAllNumerics)
    add_row_op(list, {"add_rms_norm", numerics, {{"columns", columns}}, [=](Bench& bench, std::int64_t rows) {
                        return std::make_unique<AddRmsNorm>(bench, numerics, rows, columns);
                      }});
}

}  // namespace branchmark::operators
