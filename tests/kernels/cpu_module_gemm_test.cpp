// The GEMM handles of the CPU module: what a row's bits may depend on, and what they are.
#include <algorithm>
#include <set>

#include "cpu_module.hpp"

namespace branchmark::test {
namespace {

constexpr int64_t kRowCounts[] = {1, 2, 3, 8, 17, 33, 64, 65, 257};
constexpr int64_t kMostRows = 300;

struct Types {
  bmk_dtype x, w, y;
};
constexpr Types kTypes[] = {
    {BMK_BF16, BMK_BF16, BMK_BF16}, {BMK_BF16, BMK_F32, BMK_BF16}, {BMK_F32, BMK_BF16, BMK_F32},
    {BMK_F32, BMK_F32, BMK_F32},    {BMK_BF16, BMK_BF16, BMK_F32},
};

// One product of kMostRows rows. Sizes with edges: N and K are no multiples of any block, tile or vector.
struct Product {
  Device& device;
  Matrix x, w, y;

  explicit Product(Device& on, Types types = kTypes[0], int64_t n = 331, int64_t k = 333)
      : device(on),
        x(on, kMostRows, k, types.x, 352),
        w(on, n, k, types.w),
        y(on, kMostRows, n, types.y, (n + 23) / 8 * 8) {
    x.fill(1);
    w.fill(2);
  }

  bmk_gemm_args args(int64_t first_row, int64_t rows) const {
    return {sizeof(bmk_gemm_args), x.rows(first_row, rows), w.view(), y.rows(first_row, rows)};
  }
  bmk_gemm_shape shape() const {
    return {w.view().rows,       w.view().columns,    x.view().row_stride,
            w.view().row_stride, y.view().row_stride, x.view().dtype,
            w.view().dtype,      y.view().dtype,      0};
  }
  void prepare(const Gemm& gemm) const {
    const bmk_gemm_shape wanted = shape();
    expect_ok(
        module().gemm->prepare(gemm.get(), device.stream(), &wanted, kRowCounts, std::size(kRowCounts)));
  }
  // Bits of rows [first_row, first_row + rows), computed over NaNs in a call of their own.
  std::string run(const Gemm& gemm, int64_t first_row, int64_t rows) const {
    const bmk_gemm_args wanted = args(first_row, rows);
    clear();
    expect_ok(module().gemm->run(gemm.get(), device.stream(), &wanted));
    return y.row_bits(first_row, rows);
  }
  std::string run(const Gemm& gemm, int64_t first_row, int64_t rows, int64_t algorithm) const {
    const bmk_gemm_args wanted = args(first_row, rows);
    clear();
    expect_ok(module().gemm->run_algorithm(gemm.get(), device.stream(), &wanted, algorithm));
    return y.row_bits(first_row, rows);
  }
  void clear() const {
    const int64_t width = y.view().dtype == BMK_BF16 ? 2 : 4;
    memset(y.view().data, 0xFF, static_cast<std::size_t>(y.view().rows * y.view().row_stride * width));
  }
};

std::string rows_of(const std::string& bits, int64_t all_rows, int64_t first, int64_t count) {
  const std::size_t row_bytes = bits.size() / static_cast<std::size_t>(all_rows);
  return bits.substr(static_cast<std::size_t>(first) * row_bytes,
                     static_cast<std::size_t>(count) * row_bytes);
}

TEST(CpuGemm, FixedIsOneSumInOrderOfK) {
  Device device;
  for (const Types& types : kTypes) {
    const Product product(device, types);
    const Gemm gemm = make_gemm(device, BMK_GEMM_FIXED);
    product.prepare(gemm);
    product.run(gemm, 0, 50);
    for (int64_t row = 0; row < 50; ++row) {
      for (int64_t column = 0; column < product.w.view().rows; ++column) {
        float sum = 0.0f;
        for (int64_t k = 0; k < product.w.view().columns; ++k) {
          const float term = product.x.at(row, k) * product.w.at(column, k);
          sum = sum + term;
        }
        if (types.y == BMK_BF16) sum = from_bf16(to_bf16(sum));
        ASSERT_EQ(product.y.at(row, column), sum) << row << ", " << column;
      }
    }
  }
}

TEST(CpuGemm, RowsOfFixedAndClassDoNotDependOnTheCall) {
  Device device;
  for (const Types& types : kTypes) {
    const Product product(device, types);
    const Gemm fixed = make_gemm(device, BMK_GEMM_FIXED);
    const Gemm fastest = make_gemm(device, BMK_GEMM_CLASS);
    product.prepare(fixed);
    product.prepare(fastest);
    const std::string all = product.run(fixed, 0, kMostRows);
    for (const int64_t rows : kRowCounts) {
      for (const int64_t first : {int64_t{0}, int64_t{5}, kMostRows - rows}) {
        const std::string wanted = rows_of(all, kMostRows, first, rows);
        EXPECT_EQ(product.run(fixed, first, rows), wanted) << rows << " rows at " << first;
        EXPECT_EQ(product.run(fastest, first, rows), wanted) << rows << " rows at " << first;
      }
    }
  }
}

TEST(CpuGemm, DefaultChangesBitsWithTheNumberOfRows) {
  Device device;
  const Product product(device, {BMK_BF16, BMK_BF16, BMK_F32});
  const Gemm gemm = make_gemm(device, BMK_GEMM_DEFAULT);
  const std::string all = product.run(gemm, 0, kMostRows);
  for (const int64_t rows : kRowCounts) {
    const bool other_algorithm = rows <= 256;
    EXPECT_EQ(product.run(gemm, 0, rows) != rows_of(all, kMostRows, 0, rows), other_algorithm) << rows;
  }
  product.prepare(gemm);
  std::set<int64_t> chosen;
  const bmk_gemm_shape shape = product.shape();
  for (const int64_t rows : {16, 17, 64, 65, 256, 257}) {
    int64_t index = -1;
    expect_ok(module().gemm->chosen_algorithm(gemm.get(), &shape, rows, &index));
    chosen.insert(index);
  }
  EXPECT_EQ(chosen.size(), 4u);
}

TEST(CpuGemm, ClassHoldsWhatGivesTheFixedBitsAndNothingElse) {
  Device device;
  const Product product(device, {BMK_BF16, BMK_BF16, BMK_F32});
  const Gemm gemm = make_gemm(device, BMK_GEMM_CLASS);
  product.prepare(gemm);
  const bmk_gemm_shape shape = product.shape();
  int64_t count = 0, members = 0, split = 0;
  expect_ok(module().gemm->num_algorithms(gemm.get(), &shape, &count));
  const std::string fixed = product.run(gemm, 0, kMostRows, 0);
  std::set<std::string> fingerprints;
  for (int64_t index = 0; index < count; ++index) {
    bmk_gemm_algorithm algorithm{};
    algorithm.struct_size = sizeof algorithm;
    expect_ok(module().gemm->describe_algorithm(gemm.get(), &shape, index, &algorithm));
    fingerprints.insert(algorithm.fingerprint);
    for (const int64_t rows : kRowCounts) {
      EXPECT_EQ(product.run(gemm, 3, rows, index) == rows_of(fixed, kMostRows, 3, rows),
                algorithm.in_class == 1)
          << algorithm.fingerprint << ", " << rows << " rows";
    }
    members += algorithm.in_class;
    split += algorithm.split_k > 1 ? 1 : 0;
    const bool ordered = std::string(algorithm.fingerprint).find("/ordered/") != std::string::npos;
    EXPECT_EQ(algorithm.in_class == 1, ordered) << algorithm.fingerprint;
  }
  EXPECT_GE(members, 2);
  EXPECT_GE(split, 2);
  EXPECT_EQ(static_cast<int64_t>(fingerprints.size()), count);
  for (const int64_t rows : kRowCounts) {
    int64_t index = -1;
    expect_ok(module().gemm->chosen_algorithm(gemm.get(), &shape, rows, &index));
    bmk_gemm_algorithm algorithm{};
    algorithm.struct_size = sizeof algorithm;
    expect_ok(module().gemm->describe_algorithm(gemm.get(), &shape, index, &algorithm));
    EXPECT_EQ(algorithm.in_class, 1) << rows;
  }
}

TEST(CpuGemm, EveryAlgorithmHasTheSameBitsOnEveryInstructionSetAndThreadCount) {
  std::vector<std::string> reference;
  for (const std::string& isa : runnable_isas()) {
    for (const int64_t threads : {1, 2, 3}) {
      Device device(isa, threads);
      std::vector<std::string> outputs;
      for (const Types& types : kTypes) {
        const Product product(device, types);
        const Gemm gemm = make_gemm(device, BMK_GEMM_FIXED);
        product.prepare(gemm);
        int64_t count = 0;
        const bmk_gemm_shape shape = product.shape();
        expect_ok(module().gemm->num_algorithms(gemm.get(), &shape, &count));
        for (int64_t i = 0; i < count; ++i) outputs.push_back(product.run(gemm, 0, kMostRows, i));
      }
      if (reference.empty()) reference = outputs;
      EXPECT_TRUE(outputs == reference) << isa << ", " << threads << " threads";
    }
  }
}

TEST(CpuGemm, PropagatesNotANumber) {
  Device device;
  Product product(device);
  product.x.set(4, 100, NAN);
  product.w.set(7, 0, INFINITY);
  const Gemm gemm = make_gemm(device, BMK_GEMM_FIXED);
  product.prepare(gemm);
  product.run(gemm, 0, 8);
  EXPECT_TRUE(std::isnan(product.y.at(4, 0)));
  EXPECT_TRUE(std::isinf(product.y.at(3, 7)));
  EXPECT_TRUE(std::isfinite(product.y.at(3, 8)));
}

TEST(CpuGemm, RefusesWhatWasNotPrepared) {
  Device device;
  const Product product(device);
  const bmk_gemm_args args = product.args(0, 3);
  const bmk_gemm_shape shape = product.shape();
  for (const bmk_gemm_kind kind : {BMK_GEMM_FIXED, BMK_GEMM_CLASS}) {
    const Gemm gemm = make_gemm(device, kind);
    expect_failure(module().gemm->run(gemm.get(), device.stream(), &args), BMK_INVALID_ARGUMENT,
                   "N = 331, K = 333 with these strides and types was not prepared");
  }
  const Gemm gemm = make_gemm(device, BMK_GEMM_FIXED);
  const int64_t rows[] = {4, 0};
  expect_failure(module().gemm->prepare(gemm.get(), device.stream(), &shape, rows, 2), BMK_UNSERVED_SIZE,
                 "N = 331, K = 333, M = 0");
  expect_failure(module().gemm->run(gemm.get(), device.stream(), &args), BMK_INVALID_ARGUMENT,
                 "not prepared");
  product.prepare(gemm);
  expect_failure(module().gemm->run_algorithm(gemm.get(), device.stream(), &args, 99), BMK_INVALID_ARGUMENT,
                 "algorithm index is 99");
}

TEST(CpuGemm, ZeroRowsWriteNothing) {
  Device device;
  const Product product(device);
  const Gemm gemm = make_gemm(device, BMK_GEMM_CLASS);
  product.prepare(gemm);
  product.clear();
  const std::string before = product.y.bits();
  product.run(gemm, 0, 0);
  EXPECT_EQ(product.y.bits(), before);
}

TEST(CpuGemm, WritesNothingBesideItsColumns) {
  Device device;
  const Product product(device);
  const Gemm gemm = make_gemm(device, BMK_GEMM_FIXED);
  product.prepare(gemm);
  product.run(gemm, 0, kMostRows);
  for (int64_t row = 0; row < kMostRows; ++row) {
    for (int64_t column = product.y.view().columns; column < product.y.view().row_stride; ++column) {
      ASSERT_TRUE(std::isnan(product.y.at(row, column)));
    }
  }
}

TEST(CpuGemm, DescribesItself) {
  Device device("baseline");
  const Product product(device);
  const Gemm gemm = make_gemm(device, BMK_GEMM_CLASS);
  product.prepare(gemm);
  int64_t length = 0;
  expect_ok(module().gemm->describe(gemm.get(), nullptr, 0, &length));
  std::string text(static_cast<std::size_t>(length) + 1, '?');
  expect_ok(module().gemm->describe(gemm.get(), text.data(), length + 1, &length));
  text.pop_back();
  for (const char* part : {"\"instruction_set\":\"baseline\"", "\"kind\":\"class\"", "\"num_threads\":2",
                           "\"fingerprint\":\"cpu/split_k=4/", "\"k\":333,\"n\":331", "\"rows_from\":1}",
                           "\"row_counts\":[1,2,3,8,17,33,64,65,257]"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  char start[8];
  expect_ok(module().gemm->describe(gemm.get(), start, sizeof start, &length));
  EXPECT_EQ(std::string(start), text.substr(0, sizeof start - 1));
}

}  // namespace
}  // namespace branchmark::test
