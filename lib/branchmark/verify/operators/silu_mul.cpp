// silu_mul: two roundings, the product of two bf16 between them exact in float32. Gates reach from where
// e^-x overflows float32 to where the sigmoid is 1.
#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/activations.hpp"

namespace branchmark::operators {
namespace {

class SiluMul : public RowOp {
 public:
  SiluMul(Bench& bench, bmk_numerics numerics, std::int64_t rows, std::int64_t columns)
      : context_(bench.context),
        numerics_(numerics),
        gate_(random_matrix(bench.random, rows, columns, activation_of(numerics), 3.0f)),
        up_(random_matrix(bench.random, rows, columns, activation_of(numerics), 2.0f)) {
    const float extremes[] = {0.0f,   -0.0f,  -1.28f, 20.0f,  88.0f, 100.0f,
                              -20.0f, -80.0f, -88.0f, -90.0f, -1e4f};
    for (std::size_t i = 0; i < std::size(extremes); ++i) gate_.values[i] = stored(extremes[i], gate_.dtype);
    // Both are halves of one stacked projection's output.
    const HostMatrix both = side_by_side(gate_, up_);
    device_both_.emplace(context_, both);
  }

  std::vector<Output> outputs() const override { return {{"out", gate_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix out(context_, rows, gate_.columns, gate_.dtype);
    const auto both = rows_of(device_both_->view(), first, rows);
    run_op(*context_, "silu_mul", context_->table().ops->silu_mul,
           bmk_silu_mul_args{.struct_size = sizeof(bmk_silu_mul_args),
                             .numerics = numerics_,
                             .reserved = 0,
                             .gate = columns_of(both, 0, gate_.columns),
                             .up = columns_of(both, padded_columns(gate_.columns), up_.columns),
                             .out = out.view()});
    return {out.download(verdict, "out")};
  }

  std::vector<oracle::Expected> expected() const override { return {oracle::silu_mul(gate_, up_)}; }

 private:
  static HostMatrix side_by_side(const HostMatrix& left, const HostMatrix& right) {
    const auto second = padded_columns(left.columns);
    HostMatrix both(left.rows, second + right.columns, left.dtype);
    for (std::int64_t row = 0; row < left.rows; ++row) {
      for (std::int64_t i = 0; i < left.columns; ++i) both.at(row, i) = left.at(row, i);
      for (std::int64_t i = 0; i < right.columns; ++i) both.at(row, second + i) = right.at(row, i);
    }
    return both;
  }

  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix gate_;
  HostMatrix up_;
  std::optional<DeviceMatrix> device_both_;
};

}  // namespace

void add_silu_mul(CaseList& list) {
  const auto add = [&](bmk_numerics numerics, std::int64_t columns) {
    add_row_op(list, {"silu_mul", numerics, {{"columns", columns}}, [=](Bench& bench, std::int64_t rows) {
                        return std::make_unique<SiluMul>(bench, numerics, rows, columns);
                      }});
  };
  for (const auto numerics : kAllNumerics) add(numerics, list.full() ? 4096 : 768);
  add(BMK_NUMERICS_DEFAULT, 204);
}

}  // namespace branchmark::operators
