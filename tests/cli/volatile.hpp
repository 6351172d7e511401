// Reports without what may differ between two runs of the same inputs.
#pragma once

#include <fnmatch.h>

#include <string>
#include <string_view>

#include "branchmark/base/json.hpp"

namespace branchmark::test {

inline void remove_matching(Json& value, std::string_view pointer) {
  const auto slash = pointer.find('/', 1);
  const std::string pattern(pointer.substr(1, slash == std::string_view::npos ? slash : slash - 1));
  const bool last = slash == std::string_view::npos;
  const auto rest = last ? std::string_view() : pointer.substr(slash);
  if (value.is_array()) {
    for (auto& item : value)
      if (!last) remove_matching(item, rest);
    return;
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const bool matches = fnmatch(pattern.c_str(), member.key().c_str(), 0) == 0;
    if (matches && last) {
      member = value.erase(member);
      continue;
    }
    if (matches) remove_matching(*member, rest);
    ++member;
  }
}

// As results-schema/volatile.json lists the fields.
inline Json without_volatile(Json report) {
  const auto fields = read_json_file(BRANCHMARK_SOURCE_DIR "/results-schema/volatile.json");
  for (const auto& pointer : fields.at("report")) remove_matching(report, pointer.get<std::string>());
  return report;
}

}  // namespace branchmark::test
