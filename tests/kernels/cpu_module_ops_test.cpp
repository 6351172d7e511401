// The row ops of the CPU module against their formulas in double, and their bits on every instruction set.
#include <algorithm>
#include <functional>
#include <numeric>

#include "cpu_module.hpp"

namespace branchmark::test {
namespace {

constexpr float kEps = 1e-6f;

double silu(double x) {
  return x / (1.0 + std::exp(-x));
}
double rounded(double x) {
  return from_bf16(to_bf16(static_cast<float>(x)));
}

// Of one row: x · rsqrt(mean(x²) + eps), without weights.
std::vector<double> normed(const std::function<double(int64_t)>& x, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += x(i) * x(i);
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) {
    out.push_back(x(i) / std::sqrt(sum / static_cast<double>(n) + double{kEps}));
  }
  return out;
}

TEST(CpuOps, SyntheticFillIsTheFormula) {
  Device device;
  constexpr uint64_t kKey = 0xDEADBEEF12345678u;
  for (const bmk_dtype dtype : {BMK_F32, BMK_BF16}) {
    Matrix out(device, 7, 13, dtype, 24);
    out.fill(kKey, 2, 0.75f);
    for (int64_t row = 0; row < 7; ++row) {
      for (int64_t column = 0; column < 13; ++column) {
        uint64_t z = kKey + static_cast<uint64_t>(row * 13 + column + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z = z ^ (z >> 31);
        int64_t sum = -131070;
        for (int field = 0; field < 4; ++field) sum += static_cast<int64_t>((z >> (16 * field)) & 0xFFFFu);
        float wanted = 0.75f + std::ldexp(static_cast<float>(sum), 2 - 15);
        if (dtype == BMK_BF16) wanted = from_bf16(to_bf16(wanted));
        ASSERT_EQ(out.at(row, column), wanted);
      }
    }
  }
}

TEST(CpuOps, RmsNormIsWithinOneStepOfDouble) {
  Device device;
  constexpr int64_t kRows = 5, kColumns = 1000;
  for (const bmk_dtype weight_type : {BMK_BF16, BMK_F32}) {
    Matrix x(device, kRows, kColumns, BMK_BF16), weight(device, 1, kColumns, weight_type);
    Matrix out(device, kRows, kColumns, BMK_BF16);
    x.fill(1, 3);
    weight.fill(2, -2);
    const bmk_rms_norm_args args{sizeof args, 0, kEps, x.view(), weight.view(), out.view()};
    expect_ok(module().ops->rms_norm(device.stream(), &args));
    for (int64_t row = 0; row < kRows; ++row) {
      const auto norm = normed([&](int64_t i) { return x.at(row, i); }, kColumns);
      for (int64_t i = 0; i < kColumns; ++i) {
        const double wanted = norm[static_cast<std::size_t>(i)] * (1.0 + weight.at(0, i));
        ASSERT_LE(bf16_steps(out.at(row, i), static_cast<float>(wanted)), 1) << row << ", " << i;
      }
    }
  }
}

TEST(CpuOps, AddRmsNormHasTheBitsOfRmsNorm) {
  Device device;
  constexpr int64_t kRows = 9, kColumns = 333;
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    const bmk_dtype type = numerics == BMK_NUMERICS_REFERENCE ? BMK_F32 : BMK_BF16;
    Matrix residual(device, kRows, kColumns, type), delta(device, kRows, kColumns, type, 344);
    Matrix weight(device, 1, kColumns, BMK_BF16);
    Matrix out(device, kRows, kColumns, type), again(device, kRows, kColumns, type);
    residual.fill(1);
    delta.fill(2);
    weight.fill(3, -2);
    Matrix before(device, kRows, kColumns, type);
    before.fill(1);
    const bmk_add_rms_norm_args add{sizeof add,   numerics,      kEps,      residual.view(),
                                    delta.view(), weight.view(), out.view()};
    expect_ok(module().ops->add_rms_norm(device.stream(), &add));
    const bmk_rms_norm_args norm{sizeof norm, numerics, kEps, residual.view(), weight.view(), again.view()};
    expect_ok(module().ops->rms_norm(device.stream(), &norm));
    EXPECT_EQ(out.bits(), again.bits());
    for (int64_t i = 0; i < kColumns; ++i) {
      float sum = before.at(4, i) + delta.at(4, i);
      if (type == BMK_BF16) sum = from_bf16(to_bf16(sum));
      ASSERT_EQ(residual.at(4, i), sum);
    }
  }
}

TEST(CpuOps, GatedRmsNormIsWithinTwoStepsOfDouble) {
  Device device;
  constexpr int64_t kRows = 6, kHeads = 3, kColumns = kHeads * BMK_GDN_HEAD_DIM;
  Matrix o(device, kRows, kColumns, BMK_BF16), z(device, kRows, kColumns, BMK_BF16, kColumns + 8);
  Matrix weight(device, 1, BMK_GDN_HEAD_DIM, BMK_F32), out(device, kRows, kColumns, BMK_BF16);
  o.fill(1);
  z.fill(2, 1);
  weight.fill(3, -2, 1.0f);
  const bmk_gated_rms_norm_args args{sizeof args, 0,        kEps,          kHeads,
                                     o.view(),    z.view(), weight.view(), out.view()};
  expect_ok(module().ops->gated_rms_norm(device.stream(), &args));
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t head = 0; head < kHeads; ++head) {
      const int64_t first = head * BMK_GDN_HEAD_DIM;
      const auto norm = normed([&](int64_t i) { return o.at(row, first + i); }, BMK_GDN_HEAD_DIM);
      for (int64_t i = 0; i < BMK_GDN_HEAD_DIM; ++i) {
        const double weighted = rounded(weight.at(0, i) * rounded(norm[static_cast<std::size_t>(i)]));
        const double wanted = weighted * silu(z.at(row, first + i));
        ASSERT_LE(bf16_steps(out.at(row, first + i), static_cast<float>(wanted)), 2);
      }
    }
  }
}

TEST(CpuOps, SiluMulIsWithinTwoStepsOfDouble) {
  Device device;
  constexpr int64_t kRows = 4, kColumns = 700;
  Matrix gate(device, kRows, kColumns, BMK_BF16), up(device, kRows, kColumns, BMK_BF16);
  Matrix out(device, kRows, kColumns, BMK_BF16, 712);
  gate.fill(1, 3);
  up.fill(2);
  const bmk_silu_mul_args args{sizeof args, 0, 0, gate.view(), up.view(), out.view()};
  expect_ok(module().ops->silu_mul(device.stream(), &args));
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t i = 0; i < kColumns; ++i) {
      const double wanted = rounded(silu(gate.at(row, i))) * up.at(row, i);
      ASSERT_LE(bf16_steps(out.at(row, i), static_cast<float>(wanted)), 2);
    }
  }
}

TEST(CpuOps, LoraDeltaIsTheProduct) {
  Device device;
  constexpr int64_t kRows = 5, kDepth = 200, kColumns = 77;
  for (const int64_t rank : {1, 8, 19, 128}) {
    Matrix x(device, kRows, kDepth, BMK_F32), a(device, rank, kDepth, BMK_F32);
    Matrix b(device, kColumns, rank, BMK_F32), y(device, kRows, kColumns, BMK_F32);
    x.fill(1);
    a.fill(2, -3);
    b.fill(3, -3);
    y.fill(4);
    Matrix before(device, kRows, kColumns, BMK_F32);
    before.fill(4);
    bmk_lora_delta_args args{
        sizeof args, BMK_NUMERICS_REFERENCE, 0.5f, x.view(), a.view(), b.view(), y.view(), nullptr, 0};
    expect_ok(module().ops->lora_delta_workspace(device.device(), &args, &args.workspace_bytes));
    expect_failure(module().ops->lora_delta(device.stream(), &args), BMK_INVALID_ARGUMENT,
                   "workspace is NULL");
    Matrix workspace(device, 1, args.workspace_bytes / 4, BMK_F32);
    args.workspace = workspace.view().data;
    expect_ok(module().ops->lora_delta(device.stream(), &args));
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t n = 0; n < kColumns; ++n) {
        double delta = 0.0;
        for (int64_t r = 0; r < rank; ++r) {
          double projected = 0.0;
          for (int64_t k = 0; k < kDepth; ++k) projected += double{a.at(r, k)} * x.at(row, k);
          delta += b.at(n, r) * projected;
        }
        ASSERT_NEAR(y.at(row, n), before.at(row, n) + 0.5 * delta, 1e-4);
      }
    }
  }
}

TEST(CpuOps, RowsMoveAsTheyAre) {
  Device device;
  Matrix table(device, 11, 30, BMK_BF16), gathered(device, 4, 30, BMK_BF16), back(device, 11, 30, BMK_BF16);
  Matrix widened(device, 4, 30, BMK_F32), narrowed(device, 4, 30, BMK_BF16), embedded(device, 4, 30, BMK_F32);
  table.fill(1);
  const int64_t indices[] = {10, 0, 7, 3};
  const int32_t ids[] = {10, 0, 7, 3};
  const bmk_index_rows_args gather{sizeof gather, indices, table.view(), gathered.view()};
  expect_ok(module().ops->gather_rows(device.stream(), &gather));
  const bmk_index_rows_args scatter{sizeof scatter, indices, gathered.view(), back.view()};
  expect_ok(module().ops->scatter_rows(device.stream(), &scatter));
  const bmk_copy_2d_args widen{sizeof widen, gathered.view(), widened.view()};
  expect_ok(module().ops->copy_2d(device.stream(), &widen));
  const bmk_copy_2d_args narrow{sizeof narrow, widened.view(), narrowed.view()};
  expect_ok(module().ops->copy_2d(device.stream(), &narrow));
  const bmk_embed_args embed{sizeof embed, ids, table.view(), embedded.view()};
  expect_ok(module().ops->embed(device.stream(), &embed));
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gathered.row_bits(i, 1), table.row_bits(indices[i], 1));
    EXPECT_EQ(back.row_bits(indices[i], 1), table.row_bits(indices[i], 1));
  }
  EXPECT_TRUE(std::isnan(back.at(1, 0)));
  EXPECT_EQ(narrowed.bits(), gathered.bits());
  EXPECT_EQ(embedded.bits(), widened.bits());
}

TEST(CpuOps, NonFiniteScanFindsTheFirst) {
  Device device;
  Matrix x(device, 50, 20, BMK_BF16);
  x.fill(1);
  int64_t first = INT64_MAX;
  const bmk_non_finite_scan_args args{sizeof args, x.view(), &first};
  expect_ok(module().ops->non_finite_scan(device.stream(), &args));
  EXPECT_EQ(first, INT64_MAX);
  x.set(40, 3, NAN);
  x.set(17, 19, -INFINITY);
  x.set(17, 2, INFINITY);
  expect_ok(module().ops->non_finite_scan(device.stream(), &args));
  EXPECT_EQ(first, 17 * 20 + 2);
  first = 5;
  expect_ok(module().ops->non_finite_scan(device.stream(), &args));
  EXPECT_EQ(first, 5);
}

// Runs the arithmetic row ops on rows [first, first + count) of fixed inputs and returns all output bits.
std::vector<std::string> row_op_bits(Device& device, bmk_numerics numerics, int64_t first, int64_t count) {
  constexpr int64_t kRows = 70, kColumns = 3 * BMK_GDN_HEAD_DIM, kRank = 12;
  const bmk_dtype type = numerics == BMK_NUMERICS_REFERENCE ? BMK_F32 : BMK_BF16;
  Matrix x(device, kRows, kColumns, type), z(device, kRows, kColumns, type),
      out(device, kRows, kColumns, type);
  Matrix weight(device, 1, kColumns, BMK_F32), head_weight(device, 1, BMK_GDN_HEAD_DIM, BMK_F32);
  Matrix a(device, kRank, kColumns, BMK_F32), b(device, kColumns, kRank, BMK_F32),
      scratch(device, kRows, kRank, BMK_F32);
  x.fill(1);
  z.fill(2, 2);
  weight.fill(3, -2);
  head_weight.fill(4, -2, 1.0f);
  a.fill(5, -4);
  b.fill(6, -4);
  const bmk_matrix in = x.rows(first, count), gate = z.rows(first, count), result = out.rows(first, count);
  std::vector<std::string> bits;
  const auto keep = [&](bmk_status status) {
    expect_ok(status);
    bits.push_back(out.row_bits(first, count));
  };
  const bmk_rms_norm_args norm{sizeof norm, numerics, kEps, in, weight.view(), result};
  keep(module().ops->rms_norm(device.stream(), &norm));
  const bmk_gated_rms_norm_args gated{sizeof gated, numerics, kEps, 3, in, gate, head_weight.view(), result};
  keep(module().ops->gated_rms_norm(device.stream(), &gated));
  const bmk_silu_mul_args silu_mul{sizeof silu_mul, numerics, 0, gate, in, result};
  keep(module().ops->silu_mul(device.stream(), &silu_mul));
  const bmk_lora_delta_args lora{sizeof lora,         numerics,      2.0f, in, a.view(), b.view(), result,
                                 scratch.view().data, kRows * 16 * 4};
  keep(module().ops->lora_delta(device.stream(), &lora));
  const bmk_add_rms_norm_args add{sizeof add, numerics, kEps, in, gate, weight.view(), result};
  keep(module().ops->add_rms_norm(device.stream(), &add));
  return bits;
}

TEST(CpuOps, BitsAreTheSameOnEveryInstructionSetAndThreadCount) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_GDN_FP32, BMK_NUMERICS_REFERENCE}) {
    std::vector<std::string> reference;
    for (const std::string& isa : runnable_isas()) {
      for (const int64_t threads : {1, 2, 5}) {
        Device device(isa, threads);
        const auto bits = row_op_bits(device, numerics, 0, 70);
        if (reference.empty()) reference = bits;
        EXPECT_TRUE(bits == reference) << isa << ", " << threads << " threads";
      }
    }
  }
}

TEST(CpuOps, RowsDoNotDependOnTheirNeighbours) {
  Device device;
  const auto all = row_op_bits(device, BMK_NUMERICS_DEFAULT, 0, 70);
  for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 1}, {33, 1}, {69, 1}, {5, 17}, {40, 0}}) {
    const auto part = row_op_bits(device, BMK_NUMERICS_DEFAULT, first, count);
    for (std::size_t op = 0; op < all.size(); ++op) {
      const std::size_t row_bytes = all[op].size() / 70;
      EXPECT_TRUE(part[op] == all[op].substr(static_cast<std::size_t>(first) * row_bytes,
                                             static_cast<std::size_t>(count) * row_bytes))
          << "op " << op << ", " << count << " rows at " << first;
    }
  }
}

}  // namespace
}  // namespace branchmark::test
