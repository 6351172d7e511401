// The CPU module's sequence ops against float64 oracles, and the bits that must not change: the gated delta
// rule against its token-by-token recurrence (never another chunked kernel), attention against a plain
// softmax, convolution and gates against their formulas.
//
// The file is compiled with the definition of BRANCHMARK_ISA of the ops that it is linked with; the recorded
// digests are the same for all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ops/math.hpp"
#include "ops/ops.hpp"
#include "workers.hpp"

namespace {

namespace ops = branchmark::cpu::BRANCHMARK_ISA;
using branchmark::cpu::Workers;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kStateSize = BMK_GDN_HEAD_DIM * BMK_GDN_HEAD_DIM;

// Values of about a normal distribution, the same bits everywhere: sums of integers, scaled by a power of
// two.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  float normal() {
    int64_t sum = -131070;
    for (uint64_t z = next(), i = 0; i < 4; ++i, z >>= 16) sum += static_cast<int64_t>(z & 0xFFFF);
    return static_cast<float>(sum) * 0x1p-15f * 0.8660254f;
  }
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// A matrix of bf16 or f32. A new one holds NaNs.
class Array {
 public:
  Array(bmk_dtype dtype, int64_t rows, int64_t columns)
      : dtype_(dtype), columns_(columns), bytes_(static_cast<size_t>(rows * columns * width()), 0xFF) {}

  int64_t rows() const { return static_cast<int64_t>(bytes_.size()) / (columns_ * width()); }
  int64_t columns() const { return columns_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

  float at(int64_t row, int64_t column) const { return ops::load(data(), row * columns_ + column, dtype_); }
  void set(int64_t row, int64_t column, float x) { ops::store(data(), row * columns_ + column, dtype_, x); }
  template <class F>
  Array& fill(F value) {
    for (int64_t r = 0; r < rows(); ++r) {
      for (int64_t c = 0; c < columns_; ++c) set(r, c, value(r, c));
    }
    return *this;
  }

  // Views are of matrices that ops only read, too: bmk_matrix knows no const.
  bmk_matrix view() const { return {const_cast<void*>(data()), rows(), columns_, columns_, dtype_, 0}; }
  bmk_matrix columns_from(int64_t first, int64_t count) const {
    return {const_cast<uint8_t*>(bytes_.data()) + first * width(), rows(), count, columns_, dtype_, 0};
  }
  Array slice(int64_t first, int64_t count) const {
    Array part(dtype_, 0, columns_);
    const auto begin = bytes_.begin() + first * columns_ * width();
    part.bytes_.assign(begin, begin + count * columns_ * width());
    return part;
  }
  void append(const Array& more) { bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end()); }
  bool operator==(const Array& other) const { return bytes_ == other.bytes_; }

 private:
  int64_t width() const { return dtype_ == BMK_BF16 ? 2 : 4; }

  bmk_dtype dtype_;
  int64_t columns_;
  std::vector<uint8_t> bytes_;
};

Array normal_array(bmk_dtype dtype, int64_t rows, int64_t columns, uint64_t seed, float scale = 1.0f) {
  Random random(seed);
  return Array(dtype, rows, columns).fill([&](int64_t, int64_t) { return scale * random.normal(); });
}

// Packed sequences, as the ops take them.
class Packing {
 public:
  void add(int64_t first_position, int64_t rows) {
    first_position_.push_back(first_position);
    sequence_of_row_.insert(sequence_of_row_.end(), static_cast<size_t>(rows),
                            static_cast<int32_t>(first_position_.size() - 1));
    row_offsets_.push_back(row_offsets_.back() + rows);
    chunk_offsets_.push_back(chunk_offsets_.back() + (rows + BMK_CHUNK_TOKENS - 1) / BMK_CHUNK_TOKENS);
    max_rows_ = std::max(max_rows_, rows);
  }
  int64_t num_rows() const { return row_offsets_.back(); }
  bmk_sequences view() const {
    return {static_cast<int64_t>(first_position_.size()),
            num_rows(),
            chunk_offsets_.back(),
            max_rows_,
            row_offsets_.data(),
            first_position_.data(),
            chunk_offsets_.data(),
            sequence_of_row_.data(),
            row_offsets_.data(),
            first_position_.data()};
  }

 private:
  std::vector<int64_t> row_offsets_ = {0};
  std::vector<int64_t> first_position_;
  std::vector<int64_t> chunk_offsets_ = {0};
  std::vector<int32_t> sequence_of_row_;
  int64_t max_rows_ = 0;
};

bmk_dtype activation(bmk_numerics numerics) {
  return numerics == BMK_NUMERICS_REFERENCE ? BMK_F32 : BMK_BF16;
}

double relative_l2(const std::vector<double>& got, const std::vector<double>& want) {
  double difference = 0.0;
  double norm = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  for (int64_t r = 0; r < array.rows(); ++r) {
    for (int64_t c = 0; c < array.columns(); ++c) values.push_back(static_cast<double>(array.at(r, c)));
  }
  return values;
}

bool all_finite(const Array& array) {
  for (const double x : values_of(array)) {
    if (!std::isfinite(x)) return false;
  }
  return true;
}

// FNV-1a.
uint64_t digest(const std::vector<uint8_t>& bytes, uint64_t hash = 0xCBF29CE484222325u) {
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

// |got − want| in units of the last place of `want` rounded to float32.
double ulps(float got, double want) {
  const float magnitude = std::fabs(static_cast<float>(want));
  const float place = std::nextafter(magnitude, kInfinity) - magnitude;
  return std::fabs(static_cast<double>(got) - want) / static_cast<double>(place);
}

TEST(CpuMath, StaysCloseToDouble) {
  double exp_error = 0.0, log1p_error = 0.0, sigmoid_error = 0.0, silu_error = 0.0, softplus_error = 0.0;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 1543) {
    const float x = __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    const double wide = static_cast<double>(x);
    if (x > -104.0f && x < 88.72f) exp_error = std::max(exp_error, ulps(ops::exp_f32(x), std::exp(wide)));
    if (x > -1.0f && x < kInfinity) {
      log1p_error = std::max(log1p_error, ulps(ops::log1p_f32(x), std::log1p(wide)));
    }
    if (x > -87.0f && x < 1e30f) {
      const double sigmoid = 1.0 / (1.0 + std::exp(-wide));
      sigmoid_error = std::max(sigmoid_error, ulps(ops::sigmoid(x), sigmoid));
      silu_error = std::max(silu_error, ulps(ops::silu(x), wide * sigmoid));
    }
    if (x > -104.0f && x <= 20.0f) {
      softplus_error = std::max(softplus_error, ulps(ops::softplus(x), std::log1p(std::exp(wide))));
    }
  }
  EXPECT_LE(exp_error, 1.0);
  EXPECT_LE(log1p_error, 1.0);
  EXPECT_LE(sigmoid_error, 2.5);
  EXPECT_LE(silu_error, 2.5);
  EXPECT_LE(softplus_error, 2.0);
}

TEST(CpuMath, ExpAtItsEdges) {
  EXPECT_EQ(ops::exp_f32(0.0f), 1.0f);
  EXPECT_EQ(ops::exp_f32(-0.0f), 1.0f);
  EXPECT_EQ(ops::exp_f32(-kInfinity), 0.0f);
  EXPECT_EQ(ops::exp_f32(-1e30f), 0.0f);
  EXPECT_EQ(ops::exp_f32(kInfinity), kInfinity);
  EXPECT_EQ(ops::exp_f32(88.8f), kInfinity);
  EXPECT_TRUE(std::isnan(ops::exp_f32(kNan)));
  // Subnormal results are kept.
  EXPECT_GT(ops::exp_f32(-100.0f), 0.0f);
  EXPECT_LT(ops::exp_f32(-100.0f), std::numeric_limits<float>::min());

  float previous = 0.0f;
  for (float x = -105.0f; x < 89.5f; x += 0x1p-12f) {
    const float value = ops::exp_f32(x);
    ASSERT_GE(value, previous) << x;
    previous = value;
  }
  // A decay never grows, and is exactly one where there is none.
  for (float x = -1e-9f; x > -1.0f; x *= 1.01f) ASSERT_LE(ops::exp_f32(x), 1.0f) << x;
}

TEST(CpuMath, OtherFunctionsAtTheirEdges) {
  EXPECT_EQ(ops::log1p_f32(0.0f), 0.0f);
  EXPECT_EQ(ops::log1p_f32(kInfinity), kInfinity);
  EXPECT_EQ(ops::log1p_f32(-1.0f), -kInfinity);
  EXPECT_TRUE(std::isnan(ops::log1p_f32(-1.5f)));
  EXPECT_TRUE(std::isnan(ops::log1p_f32(kNan)));
  EXPECT_EQ(ops::sigmoid(-kInfinity), 0.0f);
  EXPECT_EQ(ops::sigmoid(kInfinity), 1.0f);
  EXPECT_TRUE(std::isnan(ops::sigmoid(kNan)));
  EXPECT_EQ(ops::softplus(50.0f), 50.0f);
  EXPECT_EQ(ops::softplus(-200.0f), 0.0f);
  EXPECT_EQ(ops::softplus(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(ops::softplus(kNan)));
  EXPECT_EQ(ops::rsqrt_f32(16.0f), 0.25f);
}

TEST(CpuMath, RoundsToTheNearestEvenBf16) {
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 977) {
    const float x = __builtin_bit_cast(float, static_cast<uint32_t>(bits));
    const uint16_t got = ops::to_bf16(x);
    if (std::isnan(x)) {
      ASSERT_EQ(got, 0x7FC0);
      continue;
    }
    // Between the neighbours toward zero and away from it; the next after the largest finite one is infinity.
    const uint32_t below = static_cast<uint32_t>(bits) >> 16;
    const uint32_t remainder = static_cast<uint32_t>(bits) & 0xFFFF;
    const bool up = remainder > 0x8000 || (remainder == 0x8000 && (below & 1) != 0);
    ASSERT_EQ(got, below + (up ? 1 : 0)) << bits;
    ASSERT_EQ(ops::round_bf16(ops::from_bf16(got)), ops::from_bf16(got));
  }
  EXPECT_EQ(ops::to_bf16(kInfinity), 0x7F80);
  EXPECT_EQ(ops::to_bf16(std::numeric_limits<float>::max()), 0x7F80);
}

TEST(CpuMath, SumsInSixteenLanes) {
  std::vector<float> x(77);
  Random random(1);
  for (float& value : x) value = random.normal();
  float lanes[16] = {};
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 16] += x[i];
  for (size_t width = 8; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  EXPECT_EQ(ops::sum16(77, [&](int64_t i) { return x[static_cast<size_t>(i)]; }), lanes[0]);
  EXPECT_EQ(ops::sum16(0, [&](int64_t) { return kNan; }), 0.0f);
}

// A piece of an input: rows [first, first + rows) of it, as one sequence of a packed call. What came before
// it is the input's own rows, or nothing where it is the prompt's start.
struct ConvPiece {
  int64_t first;
  int64_t rows;
  int64_t history_at;  // -1: not wanted
};

struct ConvResult {
  Array out;
  Array history;
};

std::vector<ConvResult> run_conv(const Array& x, const Array& weight, const std::vector<ConvPiece>& pieces,
                                 int64_t num_threads = 1) {
  const bmk_dtype type = x.view().dtype;
  Packing packing;
  Array packed(type, 0, x.columns());
  std::vector<Array> before;
  std::vector<ConvResult> results;
  for (const ConvPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    packed.append(x.slice(piece.first, piece.rows));
    before.push_back(x.slice(std::max<int64_t>(piece.first - 3, 0), piece.first == 0 ? 0 : 3));
    results.push_back({Array(type, 0, x.columns()), Array(type, 3, x.columns())});
  }
  std::vector<const void*> history_in;
  std::vector<void*> history_out;
  std::vector<int64_t> history_at;
  for (size_t s = 0; s < pieces.size(); ++s) {
    history_in.push_back(before[s].rows() == 0 ? nullptr : before[s].data());
    history_out.push_back(pieces[s].history_at < 0 ? nullptr : results[s].history.data());
    history_at.push_back(pieces[s].history_at);
  }
  Array out(type, packed.rows(), x.columns());
  bmk_conv_args args = {};
  args.sequences = packing.view();
  args.x = packed.view();
  args.weight = weight.view();
  args.out = out.view();
  args.history_in = history_in.data();
  args.history_out = history_out.data();
  args.history_at = history_at.data();
  Workers workers(num_threads);
  ops::conv(workers, args);
  int64_t row = 0;
  for (size_t s = 0; s < pieces.size(); ++s) {
    results[s].out = out.slice(row, pieces[s].rows);
    row += pieces[s].rows;
  }
  return results;
}

TEST(CpuConv, FollowsTheFormula) {
  for (const bmk_dtype type : {BMK_BF16, BMK_F32}) {
    const Array x = normal_array(type, 150, 328, 2);
    const Array weight = normal_array(BMK_BF16, 328, 4, 3);
    const Array out = run_conv(x, weight, {{0, 150, -1}})[0].out;
    std::vector<double> want;
    for (int64_t r = 0; r < 150; ++r) {
      for (int64_t c = 0; c < 328; ++c) {
        double sum = 0.0;
        for (int64_t tap = std::max<int64_t>(0, 3 - r); tap < 4; ++tap) {
          sum += static_cast<double>(weight.at(c, tap)) * static_cast<double>(x.at(r - 3 + tap, c));
        }
        want.push_back(sum / (1.0 + std::exp(-sum)));
      }
    }
    EXPECT_LE(relative_l2(values_of(out), want), type == BMK_F32 ? 1e-6 : 4e-3);
  }
}

TEST(CpuConv, BranchesAndContinuationsHaveTheBitsOfOnePass) {
  const Array x = normal_array(BMK_BF16, 200, 328, 4);
  const Array weight = normal_array(BMK_BF16, 328, 4, 5);
  const ConvResult whole = run_conv(x, weight, {{0, 200, 128}})[0];
  EXPECT_TRUE(whole.history == x.slice(125, 3));
  // Branches of 1 to 4 tokens, whose taps lie in the history, in both, or all in the branch.
  const std::vector<ConvPiece> pieces = {{64, 1, 1}, {64, 2, 2}, {128, 3, 3}, {128, 4, 4}, {64, 100, 64}};
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<ConvResult> parts = run_conv(x, weight, pieces, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      EXPECT_TRUE(parts[s].out == whole.out.slice(pieces[s].first, pieces[s].rows)) << s;
      EXPECT_TRUE(parts[s].history == x.slice(pieces[s].first + pieces[s].history_at - 3, 3)) << s;
    }
  }
}

TEST(CpuConv, HistoryWithoutRowsIsTheOneBeforeOrZeros) {
  const Array x = normal_array(BMK_BF16, 66, 16, 6);
  const Array weight = normal_array(BMK_BF16, 16, 4, 7);
  const std::vector<ConvResult> results = run_conv(x, weight, {{64, 0, 0}, {0, 0, 0}, {0, 2, 1}});
  const Array zeros = Array(BMK_BF16, 3, 16).fill([](int64_t, int64_t) { return 0.0f; });
  EXPECT_TRUE(results[0].history == x.slice(61, 3));
  EXPECT_TRUE(results[1].history == zeros);
  Array one = zeros.slice(0, 2);
  one.append(x.slice(0, 1));
  EXPECT_TRUE(results[2].history == one);
}

constexpr int64_t kGatesRows = 70;
constexpr int64_t kGatesHeads = 24;

struct GatesInput {
  Array a, b, a_log, dt_bias;
};

GatesInput gates_input(bmk_dtype type) {
  return {normal_array(type, kGatesRows, kGatesHeads, 8, 20.0f),
          normal_array(type, kGatesRows, kGatesHeads, 9, 5.0f), normal_array(BMK_F32, 1, kGatesHeads, 10),
          normal_array(BMK_BF16, 1, kGatesHeads, 11)};
}

struct Gates {
  Array g, beta;
};

Gates run_gates(const GatesInput& input) {
  Gates gates = {Array(BMK_F32, kGatesRows, kGatesHeads), Array(BMK_F32, kGatesRows, kGatesHeads)};
  bmk_gdn_gates_args args = {};
  args.a = input.a.view();
  args.b = input.b.view();
  args.a_log = input.a_log.view();
  args.dt_bias = input.dt_bias.view();
  args.g = gates.g.view();
  args.beta = gates.beta.view();
  Workers workers(2);
  ops::gdn_gates(workers, args);
  return gates;
}

TEST(CpuGdnGates, FollowTheFormula) {
  for (const bmk_dtype type : {BMK_BF16, BMK_F32}) {
    const GatesInput input = gates_input(type);
    const Gates gates = run_gates(input);
    for (int64_t r = 0; r < kGatesRows; ++r) {
      for (int64_t h = 0; h < kGatesHeads; ++h) {
        const double x = static_cast<double>(input.a.at(r, h) + input.dt_bias.at(0, h));
        const double step = x > 20.0 ? x : std::log1p(std::exp(x));
        const double want = -std::exp(static_cast<double>(input.a_log.at(0, h))) * step;
        ASSERT_NEAR(static_cast<double>(gates.g.at(r, h)), want, std::fabs(want) * 1e-6);
        ASSERT_LE(gates.g.at(r, h), 0.0f);
        const double sigmoid = 1.0 / (1.0 + std::exp(-static_cast<double>(input.b.at(r, h))));
        const float beta = gates.beta.at(r, h);
        ASSERT_NEAR(static_cast<double>(beta), sigmoid, sigmoid * (type == BMK_BF16 ? 0x1p-8 : 1e-6));
        ASSERT_EQ(beta, ops::round_to(beta, type));
      }
    }
  }
}

TEST(CpuGdnGates, AtTheirEdges) {
  GatesInput input = gates_input(BMK_F32);
  const float edges[] = {-kInfinity, -200.0f, -90.0f, 0.0f, 20.0f, 20.0001f, 50.0f, 1e30f};
  input.a.fill([&](int64_t, int64_t h) { return edges[h % 8]; });
  input.b.fill([&](int64_t, int64_t h) { return edges[h % 8]; });
  input.a_log.fill([](int64_t, int64_t) { return 2.7725887f; });  // A = 16
  input.dt_bias.fill([](int64_t, int64_t) { return 0.0f; });
  const Gates gates = run_gates(input);
  EXPECT_TRUE(all_finite(gates.g));
  EXPECT_TRUE(all_finite(gates.beta));
  EXPECT_EQ(gates.g.at(0, 0), 0.0f);
  EXPECT_EQ(gates.g.at(0, 1), 0.0f);
  EXPECT_NEAR(static_cast<double>(gates.g.at(0, 6)), -800.0, 1e-3);
  EXPECT_EQ(gates.beta.at(0, 0), 0.0f);
  EXPECT_EQ(gates.beta.at(0, 7), 1.0f);
}

struct GdnInput {
  int64_t key_heads;
  int64_t value_heads;
  Array qkv;
  Array g;
  Array beta;
  int64_t rows() const { return qkv.rows(); }
};

// Tokens of order one; decays from almost none to fast, as trained heads have them.
GdnInput gdn_input(bmk_dtype type, int64_t rows, int64_t key_heads, int64_t value_heads, uint64_t seed) {
  Random random(seed);
  return {key_heads, value_heads, normal_array(type, rows, 128 * (2 * key_heads + value_heads), seed + 1),
          Array(BMK_F32, rows, value_heads).fill([&](int64_t, int64_t h) {
            return -random.uniform() * (h % 2 == 0 ? 0.02f : 1.5f);
          }),
          Array(BMK_F32, rows, value_heads).fill([&](int64_t, int64_t) {
            return ops::round_bf16(random.uniform());
          })};
}

// Rows [first, first + rows) of an input, continued from a state, as one sequence of a packed call.
struct GdnPiece {
  const GdnInput* input;
  int64_t first;
  int64_t rows;
  const Array* state_in;  // nullptr: zeros
  int64_t state_at;       // -1: not wanted
};

struct GdnResult {
  Array out;
  Array state;  // one row a head
};

std::vector<GdnResult> run_gdn(const std::vector<GdnPiece>& pieces, bmk_numerics numerics,
                               int64_t num_threads = 1) {
  const int64_t key_heads = pieces[0].input->key_heads;
  const int64_t value_heads = pieces[0].input->value_heads;
  Packing packing;
  Array qkv = pieces[0].input->qkv.slice(0, 0);
  Array g(BMK_F32, 0, value_heads), beta(BMK_F32, 0, value_heads);
  std::vector<GdnResult> results;
  for (const GdnPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    qkv.append(piece.input->qkv.slice(piece.first, piece.rows));
    g.append(piece.input->g.slice(piece.first, piece.rows));
    beta.append(piece.input->beta.slice(piece.first, piece.rows));
    results.push_back({qkv.slice(0, 0), Array(BMK_F32, value_heads, kStateSize)});
  }
  std::vector<const float*> state_in;
  std::vector<float*> state_out;
  std::vector<int64_t> state_at;
  for (size_t s = 0; s < pieces.size(); ++s) {
    const Array* state = pieces[s].state_in;
    state_in.push_back(state == nullptr ? nullptr : static_cast<const float*>(state->data()));
    state_out.push_back(pieces[s].state_at < 0 ? nullptr : static_cast<float*>(results[s].state.data()));
    state_at.push_back(pieces[s].state_at);
  }
  Array out(qkv.view().dtype, qkv.rows(), 128 * value_heads);
  bmk_gdn_prefill_args args = {};
  args.numerics = numerics;
  args.key_heads = key_heads;
  args.value_heads = value_heads;
  args.sequences = packing.view();
  args.qkv = qkv.view();
  args.g = g.view();
  args.beta = beta.view();
  args.out = out.view();
  args.state_in = state_in.data();
  args.state_out = state_out.data();
  args.state_at = state_at.data();
  std::vector<uint8_t> workspace(static_cast<size_t>(ops::gdn_prefill_workspace(args, num_threads)), 0xFF);
  args.workspace = workspace.data();
  args.workspace_bytes = static_cast<int64_t>(workspace.size());
  Workers workers(num_threads);
  ops::gdn_prefill(workers, args);
  int64_t row = 0;
  for (size_t s = 0; s < pieces.size(); ++s) {
    results[s].out = out.slice(row, pieces[s].rows);
    row += pieces[s].rows;
  }
  return results;
}

// The recurrence of the paper, one token at a time, in float64: S ← e^g S; u = beta (v − Sᵀk); S ← S + k uᵀ;
// o = Sᵀq.
struct GdnOracle {
  std::vector<double> out;    // [rows, 128 · value heads]
  std::vector<double> state;  // [value heads, 128, 128]
};

GdnOracle gdn_oracle(const GdnInput& input) {
  const int64_t width = 128 * input.value_heads;
  GdnOracle oracle{std::vector<double>(static_cast<size_t>(input.rows() * width)), {}};
  for (int64_t h = 0; h < input.value_heads; ++h) {
    std::vector<double> state(kStateSize, 0.0);
    const int64_t key_head = h * input.key_heads / input.value_heads;
    for (int64_t r = 0; r < input.rows(); ++r) {
      double q[128], k[128], u[128];
      double q_norm = 1e-6, k_norm = 1e-6;
      for (int64_t d = 0; d < 128; ++d) {
        q[d] = static_cast<double>(input.qkv.at(r, 128 * key_head + d));
        k[d] = static_cast<double>(input.qkv.at(r, 128 * (input.key_heads + key_head) + d));
        q_norm += q[d] * q[d];
        k_norm += k[d] * k[d];
      }
      for (int64_t d = 0; d < 128; ++d) {
        q[d] /= std::sqrt(q_norm * 128.0);
        k[d] /= std::sqrt(k_norm);
      }
      const double decay = std::exp(static_cast<double>(input.g.at(r, h)));
      for (double& x : state) x *= decay;
      for (int64_t e = 0; e < 128; ++e) {
        u[e] = static_cast<double>(input.qkv.at(r, 128 * (2 * input.key_heads + h) + e));
      }
      const double beta = static_cast<double>(input.beta.at(r, h));
      double* out = oracle.out.data() + r * width + 128 * h;
      for (size_t d = 0; d < 128; ++d) {
        for (size_t e = 0; e < 128; ++e) u[e] -= state[d * 128 + e] * k[d];
      }
      for (size_t d = 0; d < 128; ++d) {
        for (size_t e = 0; e < 128; ++e) {
          state[d * 128 + e] += k[d] * (beta * u[e]);
          out[e] += state[d * 128 + e] * q[d];
        }
      }
    }
    oracle.state.insert(oracle.state.end(), state.begin(), state.end());
  }
  return oracle;
}

// Runs a whole input and compares output and last state with the oracle.
struct GdnErrors {
  double out;
  double state;
};

GdnErrors gdn_errors(const GdnInput& input, bmk_numerics numerics) {
  const GdnResult result = run_gdn({{&input, 0, input.rows(), nullptr, input.rows()}}, numerics)[0];
  const GdnOracle oracle = gdn_oracle(input);
  return {relative_l2(values_of(result.out), oracle.out), relative_l2(values_of(result.state), oracle.state)};
}

// An error far below the rounding of operands to bf16 would mean that a rounding is missing.
constexpr double kLeastDefaultError = 1e-3;

TEST(CpuGdnPrefill, DefaultNumericsStayCloseToTheRecurrence) {
  const GdnErrors errors = gdn_errors(gdn_input(BMK_BF16, 320, 2, 4, 20), BMK_NUMERICS_DEFAULT);
  RecordProperty("out", std::to_string(errors.out));
  RecordProperty("state", std::to_string(errors.state));
  EXPECT_LE(errors.out, 1e-2);
  EXPECT_LE(errors.state, 1e-2);
  EXPECT_GE(errors.out, kLeastDefaultError);
  EXPECT_GE(errors.state, kLeastDefaultError);
}

TEST(CpuGdnPrefill, Float32StaysWithinRoundingOfTheRecurrence) {
  const GdnErrors reference = gdn_errors(gdn_input(BMK_F32, 320, 2, 6, 21), BMK_NUMERICS_REFERENCE);
  EXPECT_LE(reference.out, 1e-5);
  EXPECT_LE(reference.state, 1e-5);
  const GdnErrors fp32 = gdn_errors(gdn_input(BMK_BF16, 320, 2, 6, 22), BMK_NUMERICS_GDN_FP32);
  EXPECT_LE(fp32.out, 2e-3) << "the output alone is rounded";
  EXPECT_LE(fp32.state, 1e-5);
}

TEST(CpuGdnPrefill, NearDuplicateKeys) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    GdnInput input = gdn_input(activation(numerics), 192, 1, 2, 23);
    const Array noise = normal_array(BMK_F32, 192, 128, 24, 0.05f);
    for (int64_t r = 0; r < 192; ++r) {
      for (int64_t d = 0; d < 128; ++d) input.qkv.set(r, 128 + d, input.qkv.at(0, 128 + d) + noise.at(r, d));
    }
    const GdnErrors errors = gdn_errors(input, numerics);
    RecordProperty("out" + std::to_string(numerics), std::to_string(errors.out));
    RecordProperty("state" + std::to_string(numerics), std::to_string(errors.state));
    const double bound = numerics == BMK_NUMERICS_DEFAULT ? 2e-2 : 1e-5;
    EXPECT_LE(errors.out, bound);
    EXPECT_LE(errors.state, bound);
  }
}

TEST(CpuGdnPrefill, EveryDecay) {
  // No decay at all, and from almost none to more than any softplus(50) with A of 16.
  for (const float g : {0.0f, -1e-6f, -1.0f, -20.0f, -80.0f, -800.0f, -1e4f}) {
    for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
      GdnInput input = gdn_input(activation(numerics), 192, 1, 1, 25);
      input.g.fill([&](int64_t, int64_t) { return g; });
      const GdnErrors errors = gdn_errors(input, numerics);
      const double bound = numerics == BMK_NUMERICS_DEFAULT ? 1e-2 : 1e-5;
      EXPECT_LE(errors.out, bound) << g;
      EXPECT_LE(errors.state, bound) << g;
    }
  }
}

TEST(CpuGdnPrefill, MixedExtremeDecaysStayFinite) {
  const float gates[] = {0.0f, -1e-6f, -1.0f, -20.0f, -80.0f, -1e4f};
  GdnInput input = gdn_input(BMK_BF16, 256, 1, 2, 26);
  Random random(27);
  input.g.fill([&](int64_t, int64_t) { return gates[static_cast<int64_t>(random.uniform() * 6.0f)]; });
  const GdnResult result = run_gdn({{&input, 0, 256, nullptr, 256}}, BMK_NUMERICS_DEFAULT)[0];
  EXPECT_TRUE(all_finite(result.out));
  EXPECT_TRUE(all_finite(result.state));
}

TEST(CpuGdnPrefill, ContinuationsHaveTheBitsOfOnePass) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_GDN_FP32}) {
    const GdnInput input = gdn_input(BMK_BF16, 255, 1, 2, 28);
    for (int64_t tail = 0; tail < 64; ++tail) {
      const int64_t rows = 192 + tail;
      const GdnResult whole = run_gdn({{&input, 0, rows, nullptr, 192}}, numerics)[0];
      ASSERT_TRUE(all_finite(whole.out));
      for (int64_t cut = 64; cut <= 192; cut += 64) {
        const GdnResult prefix = run_gdn({{&input, 0, cut, nullptr, cut}}, numerics)[0];
        const GdnResult rest = run_gdn({{&input, cut, rows - cut, &prefix.state, 192 - cut}}, numerics)[0];
        ASSERT_TRUE(prefix.out == whole.out.slice(0, cut)) << tail << ' ' << cut;
        ASSERT_TRUE(rest.out == whole.out.slice(cut, rows - cut)) << tail << ' ' << cut;
        ASSERT_TRUE(rest.state == whole.state) << tail << ' ' << cut;
      }
    }
  }
}

TEST(CpuGdnPrefill, PackedSequencesHaveTheBitsOfTheirSoloRuns) {
  const GdnInput input = gdn_input(BMK_BF16, 300, 2, 4, 29);
  const Array parent = run_gdn({{&input, 0, 64, nullptr, 64}}, BMK_NUMERICS_DEFAULT)[0].state;
  const Array before = parent;
  const std::vector<GdnPiece> pieces = {
      {&input, 0, 1, nullptr, 0},   {&input, 64, 63, &parent, -1}, {&input, 0, 0, nullptr, -1},
      {&input, 0, 65, nullptr, 64}, {&input, 64, 0, &parent, 0},   {&input, 64, 131, &parent, 64},
      {&input, 0, 300, nullptr, 0}, {&input, 64, 2, &parent, -1},
  };
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<GdnResult> packed = run_gdn(pieces, BMK_NUMERICS_DEFAULT, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      const GdnResult solo = run_gdn({pieces[s]}, BMK_NUMERICS_DEFAULT)[0];
      EXPECT_TRUE(packed[s].out == solo.out) << s;
      EXPECT_TRUE(packed[s].state == solo.state) << s;
      EXPECT_TRUE(all_finite(packed[s].out)) << s;
    }
  }
  EXPECT_TRUE(parent == before) << "a parent's state is read only";
}

TEST(CpuGdnPrefill, StateWithoutRowsIsTheOneBeforeOrZeros) {
  const GdnInput input = gdn_input(BMK_BF16, 64, 1, 2, 30);
  const Array parent = run_gdn({{&input, 0, 64, nullptr, 64}}, BMK_NUMERICS_DEFAULT)[0].state;
  const Array zeros = Array(BMK_F32, 2, kStateSize).fill([](int64_t, int64_t) { return 0.0f; });
  const std::vector<GdnResult> results =
      run_gdn({{&input, 64, 0, &parent, 0}, {&input, 0, 0, nullptr, 0}}, BMK_NUMERICS_DEFAULT);
  EXPECT_TRUE(results[0].state == parent);
  EXPECT_TRUE(results[1].state == zeros);
}

TEST(CpuGdnPrefill, LaterRowsOfAChunkCannotBeSeen) {
  GdnInput input = gdn_input(BMK_BF16, 100, 1, 1, 31);
  const Array out = run_gdn({{&input, 0, 100, nullptr, -1}}, BMK_NUMERICS_DEFAULT)[0].out;
  for (int64_t c = 0; c < input.qkv.columns(); ++c) input.qkv.set(90, c, kNan);
  const Array poisoned = run_gdn({{&input, 0, 100, nullptr, -1}}, BMK_NUMERICS_DEFAULT)[0].out;
  EXPECT_TRUE(poisoned.slice(0, 90) == out.slice(0, 90));
  EXPECT_FALSE(all_finite(poisoned.slice(90, 10)));
}

struct AttentionInput {
  int64_t query_heads;
  int64_t kv_heads;
  Array query;
  Array gates;  // 512 a head, of which the last 256 are read
  Array keys;
  Array values;
  int64_t rows() const { return query.rows(); }
};

AttentionInput attention_input(bmk_dtype type, int64_t rows, int64_t query_heads, int64_t kv_heads,
                               uint64_t seed) {
  return {query_heads,
          kv_heads,
          normal_array(type, rows, 256 * query_heads, seed, 1.5f),
          normal_array(type, rows, 512 * query_heads, seed + 1),
          normal_array(type, rows, 256 * kv_heads, seed + 2, 1.5f),
          normal_array(type, rows, 256 * kv_heads, seed + 3)};
}

// Rows [first, first + rows) of an input; their ancestors' keys are cut into segments at `seams`.
struct AttentionPiece {
  int64_t first;
  int64_t rows;
  std::vector<int64_t> seams;
};

std::vector<Array> run_attention(const AttentionInput& input, const std::vector<AttentionPiece>& pieces,
                                 bmk_numerics numerics, int64_t num_threads = 1) {
  Packing packing;
  Array query = input.query.slice(0, 0);
  Array gates = input.gates.slice(0, 0);
  std::vector<Array> segments;
  std::vector<int64_t> offsets = {0};
  std::vector<int64_t> first_position, length;
  int64_t max_positions = 0;
  for (const AttentionPiece& piece : pieces) {
    packing.add(piece.first, piece.rows);
    query.append(input.query.slice(piece.first, piece.rows));
    gates.append(input.gates.slice(piece.first, piece.rows));
    std::vector<int64_t> bounds = {0};
    bounds.insert(bounds.end(), piece.seams.begin(), piece.seams.end());
    if (piece.first > 0) bounds.push_back(piece.first);
    bounds.push_back(piece.first + piece.rows);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      first_position.push_back(bounds[i]);
      length.push_back(bounds[i + 1] - bounds[i]);
      segments.push_back(input.keys.slice(bounds[i], length.back()));
      segments.push_back(input.values.slice(bounds[i], length.back()));
    }
    offsets.push_back(static_cast<int64_t>(length.size()));
    max_positions = std::max(max_positions, piece.first + piece.rows);
  }
  std::vector<const void*> keys, values;
  for (size_t i = 0; i < segments.size(); i += 2) {
    keys.push_back(segments[i].data());
    values.push_back(segments[i + 1].data());
  }
  Array out(query.view().dtype, query.rows(), query.columns());
  bmk_gated_attention_args args = {};
  args.numerics = numerics;
  args.query_heads = input.query_heads;
  args.kv_heads = input.kv_heads;
  args.sequences = packing.view();
  args.query = query.view();
  args.gate = gates.columns_from(256, 512 * (input.query_heads - 1) + 256);
  args.gate_head_stride = 512;
  args.out = out.view();
  args.num_segments = static_cast<int64_t>(length.size());
  args.max_positions = max_positions;
  args.segment_offsets = offsets.data();
  args.segment_keys = keys.data();
  args.segment_values = values.data();
  args.segment_first_position = first_position.data();
  args.segment_length = length.data();
  std::vector<uint8_t> workspace(static_cast<size_t>(ops::gated_attention_workspace(args, num_threads)),
                                 0xFF);
  args.workspace = workspace.data();
  args.workspace_bytes = static_cast<int64_t>(workspace.size());
  Workers workers(num_threads);
  ops::gated_attention(workers, args);
  std::vector<Array> results;
  int64_t row = 0;
  for (const AttentionPiece& piece : pieces) {
    results.push_back(out.slice(row, piece.rows));
    row += piece.rows;
  }
  return results;
}

Array run_attention(const AttentionInput& input, bmk_numerics numerics) {
  return run_attention(input, {{0, input.rows(), {}}}, numerics)[0];
}

std::vector<double> attention_oracle(const AttentionInput& input) {
  std::vector<double> out;
  for (int64_t r = 0; r < input.rows(); ++r) {
    for (int64_t h = 0; h < input.query_heads; ++h) {
      const int64_t kv = 256 * (h * input.kv_heads / input.query_heads);
      std::vector<double> weights;
      for (int64_t j = 0; j <= r; ++j) {
        double score = 0.0;
        for (int64_t d = 0; d < 256; ++d) {
          score += static_cast<double>(input.query.at(r, 256 * h + d)) *
                   static_cast<double>(input.keys.at(j, kv + d));
        }
        weights.push_back(score / 16.0);
      }
      const double maximum = *std::max_element(weights.begin(), weights.end());
      double sum = 0.0;
      for (double& w : weights) sum += (w = std::exp(w - maximum));
      for (int64_t d = 0; d < 256; ++d) {
        double y = 0.0;
        for (int64_t j = 0; j <= r; ++j) {
          y += weights[static_cast<size_t>(j)] * static_cast<double>(input.values.at(j, kv + d));
        }
        const double gate = static_cast<double>(input.gates.at(r, 512 * h + 256 + d));
        out.push_back(y / sum / (1.0 + std::exp(-gate)));
      }
    }
  }
  return out;
}

TEST(CpuGatedAttention, StaysCloseToSoftmax) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    const AttentionInput input = attention_input(activation(numerics), 200, 6, 2, 40);
    const double error = relative_l2(values_of(run_attention(input, numerics)), attention_oracle(input));
    RecordProperty("out" + std::to_string(numerics), std::to_string(error));
    EXPECT_LE(error, numerics == BMK_NUMERICS_DEFAULT ? 4e-3 : 2e-6);
    EXPECT_GE(error, numerics == BMK_NUMERICS_DEFAULT ? kLeastDefaultError : 0.0);
  }
}

TEST(CpuGatedAttention, SegmentsAndPackingChangeNoBit) {
  const AttentionInput input = attention_input(BMK_BF16, 330, 4, 2, 41);
  const Array whole = run_attention(input, BMK_NUMERICS_DEFAULT);
  ASSERT_TRUE(all_finite(whole));
  const std::vector<AttentionPiece> pieces = {
      {0, 1, {}},  {256, 74, {64, 192}}, {64, 3, {}},      {0, 0, {}},   {0, 65, {}},
      {64, 0, {}}, {192, 63, {128}},     {128, 100, {64}}, {0, 330, {}}, {320, 4, {64, 128, 256}},
  };
  for (const int64_t num_threads : {1, 3}) {
    const std::vector<Array> parts = run_attention(input, pieces, BMK_NUMERICS_DEFAULT, num_threads);
    for (size_t s = 0; s < pieces.size(); ++s) {
      EXPECT_TRUE(parts[s] == whole.slice(pieces[s].first, pieces[s].rows)) << s;
    }
  }
}

TEST(CpuGatedAttention, KeysPastARowCannotBeSeen) {
  AttentionInput input = attention_input(BMK_BF16, 150, 2, 1, 42);
  const Array out = run_attention(input, BMK_NUMERICS_DEFAULT);
  for (const int64_t row : {70, 140}) {
    for (int64_t d = 0; d < 256; ++d) {
      input.keys.set(row, d, kNan);
      input.values.set(row, d, kNan);
    }
  }
  const Array poisoned = run_attention(input, BMK_NUMERICS_DEFAULT);
  EXPECT_TRUE(poisoned.slice(0, 70) == out.slice(0, 70));
  EXPECT_TRUE(std::isnan(poisoned.at(70, 0)));
}

// Scores that rise by one a key, so that a tile leaves e^-64 of what came before it.
TEST(CpuGatedAttention, RescalesRisingScores) {
  AttentionInput input = attention_input(BMK_F32, 260, 1, 1, 43);
  input.query.fill([](int64_t, int64_t) { return 1.0f; });
  input.keys.fill([](int64_t r, int64_t) { return static_cast<float>(r) / 16.0f; });
  const Array out = run_attention(input, BMK_NUMERICS_REFERENCE);
  EXPECT_LE(relative_l2(values_of(out), attention_oracle(input)), 1e-6);
}

struct Prepared {
  Array query;
  Array keys;
  Array values;
};

constexpr int64_t kPrepareRows = 9;
constexpr int64_t kQueryHeads = 3;
constexpr int64_t kKvHeads = 1;

struct PrepareInput {
  Array projection, query_norm, key_norm, cosines, sines;
  std::vector<int32_t> positions;  // [3, rows]
};

PrepareInput prepare_input(bmk_dtype type) {
  PrepareInput input = {normal_array(type, kPrepareRows, 512 * (kQueryHeads + kKvHeads), 50, 2.0f),
                        normal_array(BMK_BF16, 1, 256, 51, 0.3f),
                        normal_array(BMK_F32, 1, 256, 52, 0.3f),
                        normal_array(type, 40, 32, 53),
                        normal_array(type, 40, 32, 54),
                        {}};
  for (int32_t axis = 0; axis < 3; ++axis) {
    for (int32_t r = 0; r < kPrepareRows; ++r) input.positions.push_back(10 * axis + (axis == 0 ? r : r / 3));
  }
  return input;
}

// Two sequences, of 4 and 5 rows; the second begins at position 64 of its prompt.
Prepared run_prepare(const PrepareInput& input, bmk_numerics numerics) {
  const bmk_dtype type = activation(numerics);
  Packing packing;
  packing.add(0, 4);
  packing.add(64, 5);
  Prepared result = {Array(type, kPrepareRows, 256 * kQueryHeads), Array(type, 4, 256 * kKvHeads),
                     Array(type, 4, 256 * kKvHeads)};
  Array second_keys(type, 5, 256 * kKvHeads), second_values(type, 5, 256 * kKvHeads);
  void* keys[] = {result.keys.data(), second_keys.data()};
  void* values[] = {result.values.data(), second_values.data()};
  bmk_attention_prepare_args args = {};
  args.numerics = numerics;
  args.eps = 1e-6f;
  args.query_heads = kQueryHeads;
  args.kv_heads = kKvHeads;
  args.sequences = packing.view();
  args.projection = input.projection.view();
  args.query_norm = input.query_norm.view();
  args.key_norm = input.key_norm.view();
  args.cosines = input.cosines.view();
  args.sines = input.sines.view();
  args.positions = input.positions.data();
  args.section_height = 11;
  args.section_width = 10;
  args.query = result.query.view();
  args.key_out = keys;
  args.value_out = values;
  Workers workers(2);
  ops::attention_prepare(workers, args);
  result.keys.append(second_keys);
  result.values.append(second_values);
  return result;
}

// Norm and rotary of one head, in float64.
std::vector<double> prepare_oracle(const PrepareInput& input, int64_t row, int64_t first, const Array& norm) {
  std::vector<double> x;
  double squares = 0.0;
  for (int64_t d = 0; d < 256; ++d) {
    x.push_back(static_cast<double>(input.projection.at(row, first + d)));
    squares += x.back() * x.back();
  }
  for (int64_t d = 0; d < 256; ++d) {
    x[static_cast<size_t>(d)] *=
        (1.0 + static_cast<double>(norm.at(0, d))) / std::sqrt(squares / 256.0 + 1e-6);
  }
  for (size_t i = 0; i < 32; ++i) {
    // Sections 11, 11, 10, interleaved: T H W T H W ... T H, of which the last width is frequency 29.
    const size_t axis = i % 3 == 1 && i < 33 ? 1 : i % 3 == 2 && i < 30 ? 2 : 0;
    const int64_t position = input.positions[axis * kPrepareRows + static_cast<size_t>(row)];
    const double cosine = static_cast<double>(input.cosines.at(position, static_cast<int64_t>(i)));
    const double sine = static_cast<double>(input.sines.at(position, static_cast<int64_t>(i)));
    const double a = x[i], b = x[i + 32];
    x[i] = a * cosine - b * sine;
    x[i + 32] = b * cosine + a * sine;
  }
  return x;
}

TEST(CpuAttentionPrepare, FollowsTheFormula) {
  for (const bmk_numerics numerics : {BMK_NUMERICS_DEFAULT, BMK_NUMERICS_REFERENCE}) {
    const PrepareInput input = prepare_input(activation(numerics));
    const Prepared result = run_prepare(input, numerics);
    std::vector<double> queries, keys;
    for (int64_t r = 0; r < kPrepareRows; ++r) {
      for (int64_t h = 0; h < kQueryHeads; ++h) {
        const std::vector<double> head = prepare_oracle(input, r, 512 * h, input.query_norm);
        queries.insert(queries.end(), head.begin(), head.end());
      }
      const std::vector<double> head = prepare_oracle(input, r, 512 * kQueryHeads, input.key_norm);
      keys.insert(keys.end(), head.begin(), head.end());
      for (int64_t d = 0; d < 256; ++d) {
        ASSERT_EQ(result.values.at(r, d), input.projection.at(r, 512 * kQueryHeads + 256 + d));
      }
    }
    const double bound = numerics == BMK_NUMERICS_DEFAULT ? 4e-3 : 1e-6;
    EXPECT_LE(relative_l2(values_of(result.query), queries), bound);
    EXPECT_LE(relative_l2(values_of(result.keys), keys), bound);
  }
}

// What every compiler, instruction set and processor must give. A change of an op's arithmetic changes these
// on purpose, and nothing else does.
struct RecordedBits {
  bmk_numerics numerics;
  uint64_t conv, gates, gdn, prepare, attention;
};

class CpuSequenceOps : public testing::TestWithParam<RecordedBits> {};

TEST_P(CpuSequenceOps, HaveTheRecordedBits) {
  const bmk_numerics numerics = GetParam().numerics;
  const bmk_dtype type = activation(numerics);
  const Array x = normal_array(type, 131, 328, 60);
  const Array weight = normal_array(BMK_BF16, 328, 4, 61);
  EXPECT_EQ(digest(run_conv(x, weight, {{0, 131, -1}})[0].out.bytes()), GetParam().conv);
  const Gates gates = run_gates(gates_input(type));
  EXPECT_EQ(digest(gates.beta.bytes(), digest(gates.g.bytes())), GetParam().gates);
  const GdnInput gdn = gdn_input(type, 131, 1, 2, 62);
  const GdnResult result = run_gdn({{&gdn, 0, 131, nullptr, 128}}, numerics)[0];
  EXPECT_EQ(digest(result.state.bytes(), digest(result.out.bytes())), GetParam().gdn);
  const Prepared prepared = run_prepare(prepare_input(type), numerics);
  EXPECT_EQ(digest(prepared.keys.bytes(), digest(prepared.query.bytes())), GetParam().prepare);
  const Array attention = run_attention(attention_input(type, 131, 2, 1, 63), numerics);
  EXPECT_EQ(digest(attention.bytes()), GetParam().attention);
}

std::string numerics_name(const testing::TestParamInfo<RecordedBits>& info) {
  if (info.param.numerics == BMK_NUMERICS_REFERENCE) return "Reference";
  return info.param.numerics == BMK_NUMERICS_GDN_FP32 ? "GdnFp32" : "Default";
}

INSTANTIATE_TEST_SUITE_P(
    Numerics, CpuSequenceOps,
    testing::Values(RecordedBits{BMK_NUMERICS_DEFAULT, 0xA3CEC1E2C2C74853u, 0xD0227247473E276Eu,
                                 0x8A9944BBA56AD63Du, 0xC2EF63B26D956AE3u, 0xA36D32477AE114EFu},
                    RecordedBits{BMK_NUMERICS_GDN_FP32, 0xA3CEC1E2C2C74853u, 0xD0227247473E276Eu,
                                 0xE726B9EB77A9D185u, 0xC2EF63B26D956AE3u, 0xA36D32477AE114EFu},
                    RecordedBits{BMK_NUMERICS_REFERENCE, 0x55C7B058915EA41Eu, 0x008D939ED7A2AA83u,
                                 0xF96F8976A787E103u, 0xE844ECCF8D7AB60Cu, 0xB575677E4E76313Du}),
    numerics_name);

}  // namespace
