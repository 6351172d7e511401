#include "branchmark/model/adapter_settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "branchmark/base/json.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

AdapterSettings settings_with_pattern(const std::string& pattern) {
  const Json json = {{"peft_type", "LORA"}, {"r", 8}, {"lora_alpha", 16}, {"rank_pattern", {{pattern, 4}}}};
  const test::Folder folder;
  return read_adapter_settings(folder.write("adapter_config.json", json_text(json)));
}

// Found beside a fuzzer's run: a search that backs up tries each way to cut the name into pieces, which are
// more than any machine can count. The alarm ends the test where it does.
TEST(AdapterSettings, K48PatternsThatBackTrackAreMatchedInTime) {
  constexpr unsigned kSeconds = 60;
  for (const char* pattern : {"(.*)*x", "(([a-z_0-9.])+)+x", "(.?.?.?.?)+x", "((((.*)*)*)*)*x"}) {
    ::alarm(kSeconds);
    EXPECT_EQ(settings_with_pattern(pattern).rank_of("layers.0.linear_attn.in_proj_qkv.and.more.of.it"), 8);
    ::alarm(0);
  }
  EXPECT_EQ(settings_with_pattern("layers\\.[0-3]\\..*q_proj").rank_of("model.layers.2.self_attn.q_proj"), 4);
}

TEST(AdapterSettings, K48PatternsTooLargeToMatchAreRefused) {
  test::expect_error(ErrorCode::usage, {"/rank_pattern/", "a regular expression as its key"},
                     [] { settings_with_pattern("((.{99}){99}){99}"); });
  test::expect_error(ErrorCode::usage, {"/rank_pattern/", "a regular expression as its key"},
                     [] { settings_with_pattern("(q|k)_proj\\1"); });
}

}  // namespace
}  // namespace branchmark
