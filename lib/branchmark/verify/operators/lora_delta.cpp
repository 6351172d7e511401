// lora_delta: y ← round(y + scale · B(A x)), float32 inside, one rounding.
#include "branchmark/verify/operators/row_op.hpp"
#include "branchmark/verify/oracle/products.hpp"

namespace branchmark::operators {
namespace {

constexpr float kScale = 1.5f;

struct LoraSizes {
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t rank = 0;
};

class LoraDelta : public RowOp {
 public:
  LoraDelta(Bench& bench, bmk_numerics numerics, std::int64_t rows, const LoraSizes& sizes)
      : context_(bench.context),
        numerics_(numerics),
        x_(random_matrix(bench.random, rows, sizes.k, activation_of(numerics))),
        a_(random_matrix(bench.random, sizes.rank, sizes.k, BMK_F32, 0.05f)),
        b_(random_matrix(bench.random, sizes.n, sizes.rank, BMK_F32, 0.3f)),
        y_(random_matrix(bench.random, rows, sizes.n, activation_of(numerics))),
        device_x_(context_, x_),
        device_a_(context_, a_),
        device_b_(context_, b_) {}

  std::vector<Output> outputs() const override { return {{"y", y_.columns}}; }

  std::vector<HostMatrix> run(Verdict& verdict, std::int64_t first, std::int64_t rows) override {
    const DeviceMatrix y(context_, rows_of(y_, first, rows));
    bmk_lora_delta_args args{.struct_size = sizeof(bmk_lora_delta_args),
                             .numerics = numerics_,
                             .scale = kScale,
                             .x = rows_of(device_x_.view(), first, rows),
                             .a = device_a_.view(),
                             .b = device_b_.view(),
                             .y = y.view(),
                             .workspace = nullptr,
                             .workspace_bytes = 0};
    args.workspace_bytes =
        workspace_bytes(*context_, "lora_delta_workspace", context_->table().ops->lora_delta_workspace, args);
    const auto workspace = poisoned_buffer(context_, args.workspace_bytes);
    args.workspace = workspace.data();
    run_op(*context_, "lora_delta", context_->table().ops->lora_delta, args);
    return {y.download(verdict, "y")};
  }

  std::vector<oracle::Expected> expected() const override {
    return {oracle::lora_delta(x_, a_, b_, double{kScale}, y_)};
  }

 private:
  std::shared_ptr<Context> context_;
  bmk_numerics numerics_;
  HostMatrix x_;
  HostMatrix a_;
  HostMatrix b_;
  HostMatrix y_;
  DeviceMatrix device_x_;
  DeviceMatrix device_a_;
  DeviceMatrix device_b_;
};

}  // namespace

void add_lora_delta(CaseList& list) {
  const auto add = [&](bmk_numerics numerics, const LoraSizes& sizes) {
    add_row_op(list, {"lora_delta",
                      numerics,
                      {{"n", sizes.n}, {"k", sizes.k}, {"rank", sizes.rank}},
                      [=](Bench& bench, std::int64_t rows) {
                        return std::make_unique<LoraDelta>(bench, numerics, rows, sizes);
                      }});
  };
  for (const auto numerics : kAllNumerics) {
    add(numerics, {.k = list.full() ? 4096 : 256, .n = list.full() ? 1024 : 136, .rank = 16});
    add(numerics, {.k = 200, .n = 36, .rank = 1});
  }
  add(BMK_NUMERICS_DEFAULT, {.k = 128, .n = 64, .rank = 128});
}

}  // namespace branchmark::operators
