#include "branchmark/model/profile.hpp"

#include <fmt/format.h>

#include "branchmark/base/error.hpp"

namespace branchmark {

std::string Profile::describe() const {
  std::string text;
  const auto add = [&](bool deviates, std::string_view name) {
    if (!deviates) return;
    if (!text.empty()) text += ", ";
    text += name;
  };
  add(unmerged_adapter, "unmerged LoRA adapter");
  add(reference_numerics, "numerics reference");
  add(gdn_fp32, "gdn fp32");
  return text.empty() ? "default" : text;
}

void require_shareable(const Profile& profile, std::string_view entry_point) {
  if (profile.shareable()) return;
  throw Error(
      ErrorCode::refused,
      fmt::format("{}: refused: {}; shared execution is proven for merged weights and default numerics "
                  "only",
                  entry_point, profile.describe()));
}

}  // namespace branchmark
