#include "branchmark/bench/ops/operands.hpp"

#include "branchmark/base/random.hpp"

namespace branchmark::ops {
namespace {

void fill_random(Context& context, const bmk_matrix& out, std::uint64_t key, Spread spread) {
  const bmk_synthetic_fill_args args{
      .struct_size = sizeof args, .key = key, .exponent = spread.exponent, .mean = spread.mean, .out = out};
  context.op("synthetic_fill", context.table().ops->synthetic_fill, args);
}

std::int64_t buffer_bytes(const bmk_matrix& whole) {
  return whole.rows * whole.row_stride * size_of(whole.dtype);
}

}  // namespace

OperandPool::OperandPool(std::shared_ptr<Context> context, const OperandOptions& options)
    : context_(std::move(context)), options_(options) {}

bmk_matrix OperandPool::weight(const std::string& name, std::int64_t rows, std::int64_t columns,
                               bmk_dtype dtype, Spread spread) {
  auto found = weights_.find(name);
  if (found == weights_.end()) {
    DeviceBuffer buffer(context_, matrix_bytes(rows, columns, dtype));
    const auto view = matrix(buffer.data(), rows, columns, dtype);
    fill_random(*context_, view, random_key(options_.seed, "op weight " + name), spread);
    found = weights_.emplace(name, std::pair(std::move(buffer), view)).first;
  }
  return found->second.second;
}

Gemm& OperandPool::gemm(GemmKind kind) {
  auto found = gemms_.find(kind);
  if (found == gemms_.end())
    found =
        gemms_.emplace(kind, Gemm(context_, {.kind = kind, .trust_cache = false, .cache_file = {}})).first;
  return found->second;
}

bmk_matrix Operands::random(const std::string& name, std::int64_t rows, std::int64_t columns, bmk_dtype dtype,
                            Spread spread) {
  const auto& buffer = keep<DeviceBuffer>(pool_.context(), matrix_bytes(rows, columns, dtype));
  const auto view = matrix(buffer.data(), rows, columns, dtype);
  fill_random(context(), view, random_key(pool_.seed(), name_ + "/" + name), spread);
  return view;
}

bmk_matrix Operands::output(std::int64_t rows, std::int64_t columns, bmk_dtype dtype) {
  const auto& buffer = keep<DeviceBuffer>(pool_.context(), matrix_bytes(rows, columns, dtype));
  poisoned_.push_back(matrix(buffer.data(), rows, columns, dtype));
  results_.push_back(poisoned_.back());
  return results_.back();
}

void Operands::changes(const bmk_matrix& whole, const bmk_matrix& result) {
  const auto bytes = buffer_bytes(whole);
  const auto& first_values = keep<DeviceBuffer>(pool_.context(), bytes);
  context().copy_on_device(first_values.data(), whole.data, bytes);
  restored_.push_back({whole.data, first_values.data(), 0, bytes});
  results_.push_back(result);
}

bmk_matrix Operands::preset(std::int64_t columns, bmk_dtype dtype, int value) {
  const auto& buffer = keep<DeviceBuffer>(pool_.context(), matrix_bytes(1, columns, dtype));
  restored_.push_back({buffer.data(), nullptr, value, buffer.bytes()});
  results_.push_back(matrix(buffer.data(), 1, columns, dtype));
  return results_.back();
}

const RotaryTable& Operands::rotary(std::int64_t positions) {
  auto& table = keep<RotaryTable>(pool_.context(), config(), activation());
  table.reserve(positions);
  return table;
}

void* Operands::workspace(std::int64_t bytes) {
  return keep<DeviceBuffer>(pool_.context(), bytes).data();
}

void Operands::restore() {
  for (const auto& each : restored_)
    if (each.first_values != nullptr)
      context().copy_on_device(each.data, each.first_values, each.bytes);
    else
      context().fill(each.data, each.value, each.bytes);
}

void Operands::poison() {
  for (const auto& each : poisoned_) context().fill(each.data, 0xFF, buffer_bytes(each));
}

double bytes_of(std::initializer_list<bmk_matrix> matrices) {
  double bytes = 0;
  for (const auto& each : matrices)
    bytes += static_cast<double>(each.rows) * static_cast<double>(each.columns) *
             static_cast<double>(size_of(each.dtype));
  return bytes;
}

}  // namespace branchmark::ops
