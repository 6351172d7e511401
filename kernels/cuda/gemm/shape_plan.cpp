#include "shape_plan.hpp"

#include <algorithm>
#include <iterator>

#include "few_rows.hpp"
#include "reference_gemm.hpp"

namespace branchmark::cuda {
namespace {

// More than the heuristics were seen to offer at one size.
constexpr int kUnsplitOffers = 64;
// Split ones serve as negative controls only.
constexpr int kSplitOffers = 16;

template <typename Algorithms>
auto find_fingerprint(Algorithms& algorithms, const std::string& fingerprint) {
  return std::find_if(algorithms.begin(), algorithms.end(),
                      [&](const Algorithm& algorithm) { return algorithm.fingerprint == fingerprint; });
}

void append_new(std::vector<Algorithm>& list, std::vector<Algorithm> offers) {
  for (Algorithm& offer : offers)
    if (find_fingerprint(list, offer.fingerprint) == list.end()) list.push_back(std::move(offer));
}

}  // namespace

ShapePlan::ShapePlan(const bmk_gemm_shape& shape)
    : shape_(shape), is_reference_(is_reference_product(shape)), searched_(is_reference_) {
  if (!is_reference_) return;
  Algorithm only;
  only.fingerprint = kReferenceFingerprint;
  only.in_class = true;
  algorithms_.push_back(std::move(only));
  num_candidates_ = 1;
}

void ShapePlan::search(const LtContext& context, const bmk_device& device) {
  std::vector<Algorithm> unsplit =
      offered_algorithms(context, Problem(shape_, kFixedRows), SplitK::kForbidden, kUnsplitOffers);
  if (unsplit.empty())
    fail(BMK_UNSERVED_SIZE,
         "cuBLASLt offers no algorithm without a split of K for " + size_text(shape_, kFixedRows));
  std::vector<Algorithm> split;
  for (const std::int64_t rows : standard_row_bounds()) {
    const Problem problem(shape_, rows);
    append_new(unsplit, offered_algorithms(context, problem, SplitK::kForbidden, kUnsplitOffers));
    for (Algorithm& offer : offered_algorithms(context, problem, SplitK::kAllowed, kSplitOffers))
      if (!is_unsplit(offer.settings)) append_new(split, {offer});
  }
  for (const FewRowsSettings& settings : few_rows_kernels(device, shape_.n)) {
    Algorithm own;
    own.few_rows = settings;
    own.fingerprint = fingerprint(settings);
    unsplit.push_back(std::move(own));
  }
  unsplit.front().in_class = true;
  num_candidates_ = unsplit.size();
  algorithms_ = std::move(unsplit);
  std::move(split.begin(), split.end(), std::back_inserter(algorithms_));
  served_.clear();
  default_choices_.clear();
  searched_ = true;
}

bool ShapePlan::reorder_candidates(std::span<const std::string> fingerprints) {
  if (fingerprints.size() != num_candidates_ || fingerprints.front() != algorithms_.front().fingerprint)
    return false;
  std::vector<Algorithm> ordered;
  for (const std::string& fingerprint : fingerprints) {
    const std::span<const Algorithm> known = std::as_const(*this).candidates();
    const auto found = find_fingerprint(known, fingerprint);
    if (found == known.end() || find_fingerprint(ordered, fingerprint) != ordered.end()) return false;
    ordered.push_back(*found);
  }
  std::move(ordered.begin(), ordered.end(), algorithms_.begin());
  served_.clear();
  default_choices_.clear();
  return true;
}

void ShapePlan::gather_members() {
  const std::span<Algorithm> others = candidates().subspan(1);
  std::stable_partition(others.begin(), others.end(),
                        [](const Algorithm& algorithm) { return algorithm.in_class; });
  served_.clear();
  default_choices_.clear();
}

bool ShapePlan::serves(const LtContext& context, std::int64_t index, std::int64_t rows) {
  const auto [entry, is_new] = served_.try_emplace({index, rows}, false);
  if (is_new)
    entry->second =
        cuda::serves(context, Problem(shape_, rows), algorithms_[static_cast<std::size_t>(index)]);
  return entry->second;
}

const ShapePlan::DefaultChoice& ShapePlan::default_choice(const LtContext& context, std::int64_t rows) {
  const auto known = default_choices_.find(rows);
  if (known != default_choices_.end()) return known->second;
  std::vector<Algorithm> first = offered_algorithms(context, Problem(shape_, rows), SplitK::kAllowed, 1);
  if (first.empty()) fail(BMK_UNSERVED_SIZE, "cuBLASLt offers no algorithm for " + size_text(shape_, rows));
  DefaultChoice choice{first.front(), index_of(first.front().fingerprint)};
  if (choice.index < 0) {
    choice.index = static_cast<std::int64_t>(algorithms_.size());
    algorithms_.push_back(std::move(first.front()));
  }
  return default_choices_.emplace(rows, choice).first->second;
}

std::int64_t ShapePlan::fixed_choice(const LtContext& context, std::int64_t rows) {
  if (!serves(context, 0, rows))
    fail(BMK_UNSERVED_SIZE, "the fixed GEMM algorithm (" + algorithms_.front().fingerprint +
                                ") cannot serve " + size_text(shape_, rows) + "; nothing ran");
  return 0;
}

std::int64_t ShapePlan::class_choice(const LtContext& context, std::int64_t rows) {
  const RowEntry* entry = find_entry(table_, rows);
  if (entry == nullptr || entry->algorithm == 0) return fixed_choice(context, rows);
  const bool first_time = served_.find({entry->algorithm, rows}) == served_.end();
  if (serves(context, entry->algorithm, rows)) return entry->algorithm;
  if (first_time) ++num_fallbacks_;
  return fixed_choice(context, rows);
}

std::int64_t ShapePlan::index_of(const std::string& fingerprint) const {
  const auto found = find_fingerprint(algorithms_, fingerprint);
  return found == algorithms_.end() ? -1 : found - algorithms_.begin();
}

}  // namespace branchmark::cuda
