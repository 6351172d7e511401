#include "prepare.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "../tuning/class_cache.hpp"
#include "class_proof.hpp"

namespace branchmark::cuda {
namespace {

// Row counts of a caller's plan that get bounds of their own in a table.
constexpr std::int64_t kMaxExtraBounds = 64;

ClassKey class_key(const bmk_gemm& gemm, const bmk_gemm_shape& shape) {
  return {gemm.info.name, gemm.info.uuid, gemm.info.driver_version, gemm.info.blas_version, shape.n,
          shape.k,        shape.x_stride, shape.w_stride,           shape.y_stride};
}

// Takes over what the cache file says of this shape, if one product confirms it. False where it says nothing
// of use, or is not confirmed; the plan then holds no table.
bool adopt_cached(const bmk_gemm& gemm, PreparedShape& shape, ProvingGround& ground) {
  const std::vector<ClassEntry> entries = read_class_cache(gemm.cache_file);
  const ClassEntry* entry = find_entry(entries, class_key(gemm, shape.plan.shape()));
  if (entry == nullptr || !shape.plan.reorder_candidates(entry->fingerprints)) return false;
  std::set<std::int64_t> chosen;
  for (const RowEntry& row : entry->table) chosen.insert(row.algorithm);
  const std::vector<std::int64_t> members(chosen.begin(), chosen.end());
  if (!reprove_class(ground, shape.plan.candidates(), members, entry->class_digest)) return false;
  const std::span<Algorithm> candidates = shape.plan.candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].in_class = entry->is_member[i];
  shape.plan.table() = entry->table;
  shape.class_digest = entry->class_digest;
  return true;
}

void prove(PreparedShape& shape, ProvingGround& ground) {
  const ClassProof proof = prove_class(ground, shape.plan.candidates());
  shape.plan.gather_members();
  shape.class_digest = proof.digest;
  shape.fixed_holds = proof.fixed_holds;
}

void time_bounds(PreparedShape& shape, ProvingGround& ground, std::span<const std::int64_t> bounds) {
  ground.fill(0);
  for (const std::int64_t rows : bounds) {
    const RowEntry* neighbour = find_entry(shape.plan.table(), rows);
    const std::int64_t previous = neighbour == nullptr ? 0 : neighbour->algorithm;
    insert_entry(shape.plan.table(), {rows, fastest_member(ground, shape.plan.candidates(), rows, previous)});
  }
}

void write_cache(bmk_gemm& gemm, const PreparedShape& shape) {
  ClassEntry entry;
  entry.key = class_key(gemm, shape.plan.shape());
  for (const Algorithm& algorithm : shape.plan.candidates()) {
    entry.fingerprints.push_back(algorithm.fingerprint);
    entry.is_member.push_back(algorithm.in_class);
  }
  entry.class_digest = shape.class_digest;
  entry.table = shape.plan.table();
  gemm.cache_problem = update_class_cache(gemm.cache_file, entry);
}

void prepare_class(bmk_gemm& gemm, bmk_stream* stream, PreparedShape& shape,
                   std::span<const std::int64_t> row_counts) {
  const auto missing = [&] {
    return missing_bounds(shape.plan.table(), row_counts, shape.max_timed_rows, kMaxExtraBounds);
  };
  if (shape.proven && missing().empty()) return;
  ProvingGround ground(gemm.context, shape.plan.shape(), stream);
  shape.max_timed_rows = ground.max_rows();
  if (!shape.proven) {
    shape.from_cache = gemm.trust_cache && !gemm.cache_file.empty() && adopt_cached(gemm, shape, ground);
    if (!shape.from_cache) prove(shape, ground);
    shape.proven = true;
  }
  const std::vector<std::int64_t> bounds = missing();
  time_bounds(shape, ground, bounds);
  check(cudaStreamSynchronize(stream->handle), "cudaStreamSynchronize");
  const bool is_news = !shape.from_cache || !bounds.empty();
  if (is_news && shape.fixed_holds && !gemm.cache_file.empty()) write_cache(gemm, shape);
}

// Refuses row counts that the handle could not serve, before any device work.
void ask_for_rows(const bmk_gemm& gemm, ShapePlan& plan, std::span<const std::int64_t> row_counts) {
  for (const std::int64_t rows : row_counts) {
    if (rows == 0) continue;
    if (gemm.kind == BMK_GEMM_DEFAULT)
      plan.default_choice(gemm.context, rows);
    else
      plan.fixed_choice(gemm.context, rows);
  }
}

}  // namespace

void prepare_shape(bmk_gemm& gemm, bmk_stream* stream, const bmk_gemm_shape& shape,
                   std::span<const std::int64_t> row_counts) {
  const auto start = std::chrono::steady_clock::now();
  PreparedShape& entry = gemm.shapes.try_emplace(key_of(shape), shape).first->second;
  if (!entry.plan.searched()) entry.plan.search(gemm.context, *gemm.device);
  if (!entry.plan.is_reference()) {
    ask_for_rows(gemm, entry.plan, row_counts);
    if (gemm.kind == BMK_GEMM_CLASS) prepare_class(gemm, stream, entry, row_counts);
  }
  entry.row_counts.insert(row_counts.begin(), row_counts.end());
  entry.prepared = true;
  entry.prepare_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace branchmark::cuda
