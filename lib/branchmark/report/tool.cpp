#include <fmt/format.h>

#include "branchmark/report/host.hpp"
#include "branchmark_revision.hpp"

namespace branchmark {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

}  // namespace

ToolInfo describe_tool() {
  ToolInfo tool;
  tool.version = BRANCHMARK_VERSION;
  tool.compiler = compiler();
  tool.build_type = BRANCHMARK_BUILD_TYPE;
  if (!revision::kSha.empty()) tool.git_sha = revision::kSha;
  if (!revision::kDirty.empty()) tool.dirty = revision::kDirty == "true";
  return tool;
}

}  // namespace branchmark
