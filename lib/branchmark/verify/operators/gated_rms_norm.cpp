// gated_rms_norm: three roundings, each emulated by the oracle with what float32 may do before it.
#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/norms.hpp"

namespace branchmark::operators {
namespace {

constexpr float kEps = 1e-6f;

class GatedRmsNorm : public RowOp {
 public:
  GatedRmsNorm(Bench& bench, bmk_numerics numerics, std::int64_t rows, std::int64_t value_heads,
               bmk_dtype weight_dtype)
      : context_(bench.context),
        numerics_(numerics),
        value_heads_(value_heads),
        o_(random_matrix(bench.random, rows, value_heads * BMK_GDN_HEAD_DIM, activation_of(numerics), 0.2f)),
        z_(random_matrix(bench.random, rows, value_heads * BMK_GDN_HEAD_DIM, activation_of(numerics), 3.0f)),
        weight_(random_matrix(bench.random, 1, BMK_GDN_HEAD_DIM, weight_dtype, 0.25f, 1.0f)),
        device_o_(context_, o_),
        device_z_(context_, z_),
        device_weight_(context_, weight_) {}

  std::vector<Output> outputs() const override { return {{"out", o_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix out(context_, rows, o_.columns, o_.dtype);
    run_op(*context_, "gated_rms_norm", context_->table().ops->gated_rms_norm,
           bmk_gated_rms_norm_args{.struct_size = sizeof(bmk_gated_rms_norm_args),
                                   .numerics = numerics_,
                                   .eps = kEps,
                                   .value_heads = value_heads_,
                                   .o = rows_of(device_o_.view(), first, rows),
                                   .z = rows_of(device_z_.view(), first, rows),
                                   .weight = device_weight_.view(),
                                   .out = out.view()});
    return {out.download(verdict, "out")};
  }

  std::vector<oracle::Expected> expected() const override {
    return {oracle::gated_rms_norm(o_, z_, weight_, kEps)};
  }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  std::int64_t value_heads_;
  HostMatrix o_;
  HostMatrix z_;
  HostMatrix weight_;
  DeviceMatrix device_o_;
  DeviceMatrix device_z_;
  DeviceMatrix device_weight_;
};

}  // namespace

void add_gated_rms_norm(CaseList& list) {
  const std::int64_t heads = list.full() ? 32 : 4;
  for (const auto numerics : kAllNumerics)
    for (const auto weight : {BMK_BF16, BMK_F32})
      add_row_op(list, {"gated_rms_norm",
                        numerics,
                        {{"value_heads", heads}, {"weight", name_of(weight)}},
                        [=](Bench& bench, std::int64_t rows) {
                          return std::make_unique<GatedRmsNorm>(bench, numerics, rows, heads, weight);
                        }});
}

}  // namespace branchmark::operators
