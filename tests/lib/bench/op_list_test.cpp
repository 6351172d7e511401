// Which ops are timed: all of them.

#include "branchmark/bench/ops/op_list.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "lib/bench/bench_session.hpp"
#include "lib/model/folder.hpp"

namespace branchmark {
namespace {

std::string text_of(const Parameters& parameters, const std::string& name) {
  for (const auto& [key, value] : parameters)
    if (key == name) return value.is_string() ? value.get<std::string>() : value.dump();
  return "";
}

std::set<std::string> values(const std::vector<ops::OpSpec>& specs, const std::string& op,
                             const std::string& parameter) {
  std::set<std::string> found;
  for (const auto& spec : specs)
    if (op.empty() || text_of(spec.parameters, "name") == op)
      found.insert(text_of(spec.parameters, parameter));
  return found;
}

// The entries of bmk_ops_api that queue work, as the header declares them.
std::set<std::string> ops_of_the_abi() {
  const auto header = test::read_whole(BRANCHMARK_SOURCE_DIR "/kernels/include/branchmark/kernels.h");
  const auto begin = header.find("typedef struct bmk_ops_api {");
  const auto api = header.substr(begin, header.find("} bmk_ops_api;") - begin);
  const std::regex entry(R"(\(\*(\w+)\)\(bmk_stream\*)");
  std::set<std::string> names;
  for (std::sregex_iterator match(api.begin(), api.end(), entry), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

const std::string kFull = R"("single_tokens": [64, 3072, 8192],
  "shared": {"prefix_tokens": [3093], "branches": [1, 32], "branch_tokens": [128, 38]})";

TEST(OpList, EveryOpOfTheAbiHasACase) {
  auto wanted = ops_of_the_abi();
  ASSERT_EQ(wanted.size(), 16u) << "entries that the header declares; a new one needs a case in bench/ops";
  wanted.insert("gemm");
  EXPECT_EQ(values(ops::op_specs(test::bench_session(kFull)->scenario(), 1), "", "name"), wanted);
}

TEST(OpList, KeysDiffer) {
  const auto specs = ops::op_specs(test::bench_session(kFull)->scenario(), 1);
  std::set<std::string> keys;
  for (const auto& spec : specs) keys.insert(case_key("op", spec.parameters));
  EXPECT_EQ(keys.size(), specs.size());
  EXPECT_TRUE(keys.contains("op/name=rms_norm,tokens=3072,seed=1"));
  EXPECT_TRUE(keys.contains("op/name=gemm,projection=gate_up,gemm=class,tokens=64,seed=1"));
  EXPECT_TRUE(keys.contains("op/name=gdn_prefill,prefix=0,sequences=8,tokens=1024,seed=1"));
  EXPECT_TRUE(keys.contains("op/name=gdn_prefill,prefix=0,sequences=1,tokens=2048,seed=1"));
  EXPECT_TRUE(keys.contains("op/name=gated_attention,prefix=3072,sequences=32,tokens=38,seed=1"));
}

TEST(OpList, EveryProjectionIsTimedWithEachHandle) {
  const auto specs = ops::op_specs(test::bench_session(kFull)->scenario(), 1);
  EXPECT_EQ(values(specs, "gemm", "gemm"), (std::set<std::string>{"default", "fixed", "class"}));
  EXPECT_EQ(values(specs, "gemm", "projection"),
            (std::set<std::string>{"gdn_input", "gdn_output", "attention_input", "attention_output",
                                   "gate_up", "down"}));
}

TEST(OpList, PublishedShapesAreLeftOutWhereTheyAreLargerThanAnyPass) {
  const auto specs = ops::op_specs(test::bench_session(R"("single_tokens": [384, 128])")->scenario(), 1);
  EXPECT_EQ(values(specs, "gdn_prefill", "tokens"), (std::set<std::string>{"128", "384"}));
}

}  // namespace
}  // namespace branchmark
