// What an op is launched on: matrices, arrays and sequences in device memory.
//
// Values are random and seeded, by the ABI's own synthetic_fill, so that every module makes the same ones;
// zeros would run faster. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "branchmark/device/device_buffer.hpp"
#include "branchmark/device/gemm.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/model/rotary_table.hpp"
#include "branchmark/verify/operators/rig.hpp"

namespace branchmark::ops {

// Values lie around `mean` with a standard deviation of 37837 · 2^exponent, and within 131070 · 2^exponent.
struct Spread {
  std::int32_t exponent = -15;
  float mean = 0;
};
inline constexpr Spread kNormal{};            // standard deviation 1.15
inline constexpr Spread kSmall{-20, 0};       // 0.036: weights, so that products stay of order one
inline constexpr Spread kDecays{-17, -1.0f};  // (-2, 0)
inline constexpr Spread kShares{-18, 0.5f};   // (0, 1)

struct OperandOptions {
  const ModelConfig& config;
  bmk_numerics numerics = BMK_NUMERICS_DEFAULT;
  std::uint64_t seed = 1;
};

// What the cases of a block have in common on one side: weights, and GEMM handles with what they have proven.
class OperandPool {
 public:
  OperandPool(std::shared_ptr<Context> context, const OperandOptions& options);

  const std::shared_ptr<Context>& context() const { return context_; }
  const ModelConfig& config() const { return options_.config; }
  bmk_numerics numerics() const { return options_.numerics; }
  bmk_dtype activation() const { return operators::activation_of(options_.numerics); }
  std::uint64_t seed() const { return options_.seed; }

  // Made when first asked for by this name.
  bmk_matrix weight(const std::string& name, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                    Spread spread);
  Gemm& gemm(GemmKind kind);

 private:
  std::shared_ptr<Context> context_;
  OperandOptions options_;
  std::map<std::string, std::pair<DeviceBuffer, bmk_matrix>> weights_;
  std::map<GemmKind, Gemm> gemms_;
};

// Operands of one case. What it hands out lives as long as it does.
class Operands {
 public:
  // `name` seeds its values; it must not tell one side from the other.
  Operands(OperandPool& pool, std::string name) : pool_(pool), name_(std::move(name)) {}

  OperandPool& pool() { return pool_; }
  Context& context() { return *pool_.context(); }
  const ModelConfig& config() const { return pool_.config(); }
  bmk_numerics numerics() const { return pool_.numerics(); }
  bmk_dtype activation() const { return pool_.activation(); }

  bmk_matrix random(const std::string& name, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                    Spread spread = kNormal);
  // A matrix that the op writes. It is poisoned before a launch whose result is looked at.
  bmk_matrix output(std::int64_t rows, std::int64_t columns, bmk_dtype dtype);
  // A matrix from random() that the op reads and writes: restore() puts its first values back. `result`: the
  // part of it that is written.
  void changes(const bmk_matrix& whole, const bmk_matrix& result);
  // Bytes that `restore` sets to one value, for an op that lowers what it finds.
  bmk_matrix preset(std::int64_t columns, bmk_dtype dtype, int value);

  template <class T>
  T* array(const std::vector<T>& values) {
    return keep<operators::DeviceArray<T>>(pool_.context(), values).data();
  }
  const bmk_sequences& sequences(const std::vector<operators::SequenceSpan>& spans) {
    return keep<operators::Sequences>(pool_.context(), spans).view();
  }
  const RotaryTable& rotary(std::int64_t positions);
  void* workspace(std::int64_t bytes);

  // A function that queues this op. A module that lacks it throws OpUnsupported when it is called.
  template <class Args>
  std::function<void()> launch(const char* what, bmk_status (*function)(bmk_stream*, const Args*),
                               const Args& args) {
    return [context = pool_.context(), what, function, args] {
      ++context->counters().ops;
      ++context->counters().calls;
      const auto status = function(context->stream(), &args);
      if (status == BMK_UNSUPPORTED) throw operators::OpUnsupported{};
      context->check(what, status);
    };
  }

  // Queues what gives every launch the same operands.
  void restore();
  // Queues NaN into all outputs that the op does not read.
  void poison();
  const std::vector<bmk_matrix>& results() const { return results_; }

 private:
  struct Restored {
    void* data;
    void* first_values;  // null: `value` in every byte
    int value;
    std::int64_t bytes;
  };

  template <class T, class... Args>
  T& keep(Args&&... args) {
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    kept_.push_back(made);
    return *made;
  }

  OperandPool& pool_;
  std::string name_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<bmk_matrix> results_;
  std::vector<bmk_matrix> poisoned_;
  std::vector<Restored> restored_;
};

// An op made ready: what queues it, and how much work one launch is, by formula: floating-point operations,
// and bytes when each input is read and each output written once.
struct OpWork {
  std::function<void()> launch;
  double flop = 0;
  double bytes = 0;
};

// Of the elements of these matrices.
double bytes_of(std::initializer_list<bmk_matrix> matrices);

}  // namespace branchmark::ops
