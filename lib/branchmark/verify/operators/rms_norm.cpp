// rms_norm: one rounding, so at most 1 bf16 ulp from the oracle; exact away from the middle of two bf16.
#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/norms.hpp"

namespace branchmark::operators {
namespace {

constexpr float kEps = 1e-6f;

class RmsNorm : public RowOp {
 public:
  RmsNorm(Bench& bench, bmk_numerics numerics, std::int64_t rows, std::int64_t columns,
          bmk_dtype weight_dtype)
      : context_(bench.context),
        numerics_(numerics),
        x_(random_matrix(bench.random, rows, columns, activation_of(numerics), 2.0f)),
        weight_(random_matrix(bench.random, 1, columns, weight_dtype, 0.25f)),
        device_x_(context_, x_),
        device_weight_(context_, weight_) {}

  std::vector<Output> outputs() const override { return {{"out", x_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix out(context_, rows, x_.columns, x_.dtype);
    run_op(*context_, "rms_norm", context_->table().ops->rms_norm,
           bmk_rms_norm_args{.struct_size = sizeof(bmk_rms_norm_args),
                             .numerics = numerics_,
                             .eps = kEps,
                             .x = rows_of(device_x_.view(), first, rows),
                             .weight = device_weight_.view(),
                             .out = out.view()});
    return {out.download(verdict, "out")};
  }

  std::vector<oracle::Expected> expected() const override { return {oracle::rms_norm(x_, weight_, kEps)}; }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix x_;
  HostMatrix weight_;
  DeviceMatrix device_x_;
  DeviceMatrix device_weight_;
};

}  // namespace

void add_rms_norm(CaseList& list) {
  const auto add = [&](bmk_numerics numerics, std::int64_t columns, bmk_dtype weight) {
    add_row_op(list, {"rms_norm",
                      numerics,
                      {{"columns", columns}, {"weight", name_of(weight)}},
                      [=](Bench& bench, std::int64_t rows) {
                        return std::make_unique<RmsNorm>(bench, numerics, rows, columns, weight);
                      }});
  };
  for (const auto numerics : kAllNumerics) add(numerics, list.full() ? 4096 : 1024, BMK_BF16);
  // A row whose last vector is short, and a width that no block divides.
  add(BMK_NUMERICS_DEFAULT, 204, BMK_F32);
  add(BMK_NUMERICS_DEFAULT, 2560, BMK_F32);
}

}  // namespace branchmark::operators
