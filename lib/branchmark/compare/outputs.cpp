#include "branchmark/compare/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "branchmark/base/bf16.hpp"
#include "branchmark/base/distance.hpp"

namespace branchmark {
namespace {

using Digests = std::set<std::string>;

std::vector<KeptOutputs> folders_of(const Side& side) {
  std::vector<KeptOutputs> folders;
  std::set<std::string> seen;
  for (const auto& [file, report] : side.reports())
    if (report.kept_outputs && seen.insert(report.kept_outputs->resolved.string()).second)
      folders.emplace_back(report.kept_outputs->resolved);
  return folders;
}

std::optional<std::string> find(const std::vector<KeptOutputs>& folders, const std::string& digest,
                                bmk_dtype type) {
  for (const auto& folder : folders)
    if (auto bytes = folder.read(digest, type)) return bytes;
  return std::nullopt;
}

template <class Bits>
std::vector<Bits> elements_of(const std::string& bytes) {
  std::vector<Bits> elements(bytes.size() / sizeof(Bits));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(Bits));
  return elements;
}

std::vector<float> values_of(const std::string& bytes, bmk_dtype type) {
  if (type == BMK_F32) return elements_of<float>(bytes);
  std::vector<float> values;
  for (const auto bits : elements_of<std::uint16_t>(bytes)) values.push_back(bf16_to_float(bits));
  return values;
}

// By bits, so that 0 and -0 count as two.
template <class Bits>
std::int64_t count_different(const std::string& a, const std::string& b) {
  const auto left = elements_of<Bits>(a);
  const auto right = elements_of<Bits>(b);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < left.size(); ++i) count += left[i] != right[i] ? 1 : 0;
  return count;
}

OutputDistance distance_of(const std::string& a, const std::string& b, bmk_dtype type) {
  const auto left = values_of(a, type);
  const auto right = values_of(b, type);
  const double relative = relative_l2(right, left);
  OutputDistance distance;
  distance.num_outputs = 1;
  if (std::isfinite(relative)) distance.relative_l2 = relative;
  distance.max_ulp_bf16 = max_ulp_bf16(left, right);
  distance.num_elements = static_cast<std::int64_t>(left.size());
  distance.num_different =
      type == BMK_F32 ? count_different<std::uint32_t>(a, b) : count_different<std::uint16_t>(a, b);
  return distance;
}

OutputDistance larger(const OutputDistance& x, const OutputDistance& y) {
  OutputDistance both = x;
  if (x.relative_l2 && y.relative_l2)
    both.relative_l2 = std::max(*x.relative_l2, *y.relative_l2);
  else
    both.relative_l2.reset();
  both.max_ulp_bf16 = std::max(x.max_ulp_bf16, y.max_ulp_bf16);
  both.num_different = std::max(x.num_different, y.num_different);
  return both;
}

// The distances of a case's outputs, from what was kept; else why there is none.
class Distances {
 public:
  explicit Distances(const KeptOfSides& kept) : kept_(kept) {}

  void add(const Digests& a, const Digests& b) {
    std::optional<OutputDistance> largest;
    for (const auto& left : a)
      for (const auto& right : b) {
        if (left == right) continue;
        const auto found = measure(left, right);
        if (!found) return;
        largest = largest ? larger(*largest, *found) : *found;
      }
    if (!largest) return;
    if (!sum_) {
      sum_ = largest;
      return;
    }
    auto sum = larger(*sum_, *largest);
    sum.num_outputs = sum_->num_outputs + largest->num_outputs;
    sum.num_different = sum_->num_different + largest->num_different;
    sum.num_elements = sum_->num_elements + largest->num_elements;
    sum_ = sum;
  }

  const std::optional<OutputDistance>& sum() const { return sum_; }
  const std::string& reason() const { return reason_; }

 private:
  // Of two outputs; the reason is kept where there is none.
  std::optional<OutputDistance> measure(const std::string& a, const std::string& b) {
    if (kept_.a.empty() || kept_.b.empty())
      return refuse(fmt::format("{} kept no outputs", !kept_.a.empty()   ? "B"
                                                      : !kept_.b.empty() ? "A"
                                                                         : "A and B"));
    bool found_a = false;
    bool found_b = false;
    for (const auto type : {BMK_BF16, BMK_F32}) {
      const auto left = find(kept_.a, a, type);
      const auto right = find(kept_.b, b, type);
      found_a = found_a || left;
      found_b = found_b || right;
      if (!left || !right) continue;
      if (left->size() != right->size())
        return refuse(fmt::format("outputs of {} and {} bytes, which no distance compares", left->size(),
                                  right->size()));
      return distance_of(*left, *right, type);
    }
    if (found_a && found_b) return refuse("outputs of two element types, which no distance compares");
    return refuse(found_a ? missing("B", b, kept_.b) : missing("A", a, kept_.a));
  }

  static std::string missing(const char* side, const std::string& digest,
                             const std::vector<KeptOutputs>& folders) {
    return fmt::format("{}'s output {} is not in {}", side, digest.empty() ? "without a digest" : digest,
                       folders.front().folder().string());
  }

  std::nullopt_t refuse(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
    return std::nullopt;
  }

  const KeptOfSides& kept_;
  std::optional<OutputDistance> sum_;
  std::string reason_;
};

std::size_t num_prompts_of(const SideCase& merged) {
  std::size_t count = 0;
  for (const auto* record : merged.records) count = std::max(count, record->digests.size());
  return count;
}

Digests digests_of(const SideCase& merged, std::size_t prompt) {
  Digests digests;
  for (const auto* record : merged.records)
    // A run that says nothing of its outputs, because it failed, does not speak against the others.
    if (!record->digests.empty())
      digests.insert(prompt < record->digests.size() ? record->digests[prompt] : std::string());
  return digests;
}

}  // namespace

KeptOfSides kept_of(const Side& a, const Side& b) {
  return {folders_of(a), folders_of(b)};
}

bool both_kept(const KeptOfSides& kept) {
  return !kept.a.empty() && !kept.b.empty();
}

std::optional<OutputComparison> compare_outputs(const SideCase& a, const SideCase& b,
                                                const KeptOfSides& kept) {
  const auto of_a = num_prompts_of(a);
  const auto of_b = num_prompts_of(b);
  if (of_a == 0 || of_b == 0) return std::nullopt;
  OutputComparison compared;
  Distances distances(kept);
  const auto num_prompts = std::max(of_a, of_b);
  for (std::size_t prompt = 0; prompt < num_prompts; ++prompt) {
    const auto left = digests_of(a, prompt);
    const auto right = digests_of(b, prompt);
    compared.a_unstable = compared.a_unstable || left.size() > 1;
    compared.b_unstable = compared.b_unstable || right.size() > 1;
    if (left == right && left.size() == 1)
      ++compared.num_equal;
    else
      distances.add(left, right);
  }
  compared.num_prompts = static_cast<std::int64_t>(num_prompts);
  compared.distance = distances.sum();
  compared.reason = distances.reason();
  return compared;
}

}  // namespace branchmark
