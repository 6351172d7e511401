// Outputs of both sides, and how far apart they are where they were kept.
#include "branchmark/compare/outputs.hpp"

#include <cmath>
#include <limits>

#include "branchmark/base/bf16.hpp"
#include "branchmark/compare/comparison_html.hpp"
#include "branchmark/compare/comparison_json.hpp"
#include "branchmark/compare/comparison_markdown.hpp"
#include "branchmark/compare/comparison_text.hpp"
#include "branchmark/report/output_file.hpp"
#include "lib/compare/compare_fixture.hpp"
#include "lib/model/folder.hpp"

namespace branchmark {
namespace {

using test::bench_report;
using test::expect_error;
using test::timed_case;

class CompareOutputs : public test::Compare {
 protected:
  // Keeps an output in the folder of a side; its digest.
  std::string keep_bf16(const std::string& side, const std::vector<float>& values) const {
    std::vector<std::uint16_t> raw;
    for (const float value : values) raw.push_back(float_to_bf16(value));
    return folder(side).keep(std::as_bytes(std::span(raw)), BMK_BF16);
  }
  std::string keep_f32(const std::string& side, const std::vector<float>& values) const {
    return folder(side).keep(std::as_bytes(std::span(values)), BMK_F32);
  }
  KeptOutputs folder(const std::string& side) const {
    make_output_folder((folder_.path() / side).string());
    return KeptOutputs(folder_.path() / side);
  }
  // A report of one case with these digests, which kept them in the side's folder.
  Report kept(const std::string& side, std::vector<std::string> digests) {
    auto report = bench_report("run of " + side, {timed_case(1, samples())});
    report.cases[0].digests = std::move(digests);
    report.kept_outputs = KeptOutputsInfo{side, folder_.path() / side};
    return report;
  }
  static OutputComparison outputs(const Comparison& comparison) {
    return comparison.cases.at(0).outputs.value();
  }

  test::Folder folder_;
};

TEST_F(CompareOutputs, AreMeasuredFromWhatBothSidesKept) {
  const auto same = keep_bf16("a", {5, 5});
  keep_bf16("b", {5, 5});
  // 1.0078125 is the bf16 after 1; the largest of two outputs counts for each measure by itself.
  const auto found =
      outputs(of(kept("a", {keep_bf16("a", {1, 2, 3, 0}), same, keep_bf16("a", {0.0f, 100})}),
                 kept("b", {keep_bf16("b", {1.0078125f, 2, 3, 0}), same, keep_bf16("b", {-0.0f, 101})})));
  EXPECT_EQ(found.num_prompts, 3);
  EXPECT_EQ(found.num_equal, 1);
  ASSERT_TRUE(found.distance.has_value());
  EXPECT_EQ(found.distance->num_outputs, 2);
  EXPECT_DOUBLE_EQ(found.distance->relative_l2.value(), 0.01);
  EXPECT_EQ(found.distance->max_ulp_bf16, 2) << "from 100 by halves";
  EXPECT_EQ(found.distance->num_different, 3) << "0 and -0 have other bits";
  EXPECT_EQ(found.distance->num_elements, 6);
  EXPECT_EQ(found.reason, "");
  EXPECT_EQ(found.suggestion, "");
}

TEST_F(CompareOutputs, AreRelativeToA) {
  const auto small = keep_f32("a", {3, 4});
  const auto large = keep_f32("b", {30, 40});
  EXPECT_DOUBLE_EQ(outputs(of(kept("a", {small}), kept("b", {large}))).distance->relative_l2.value(), 9);
  EXPECT_DOUBLE_EQ(outputs(of(kept("b", {large}), kept("a", {small}))).distance->relative_l2.value(), 0.9);
}

TEST_F(CompareOutputs, OfFloat32AreMeasuredAsThat) {
  const auto found =
      outputs(of(kept("a", {keep_f32("a", {1, 2})}), kept("b", {keep_f32("b", {1.0000001f, 2})})));
  EXPECT_NEAR(found.distance->relative_l2.value(), 1.1920929e-7 / std::sqrt(5.0), 1e-15);
  EXPECT_EQ(found.distance->max_ulp_bf16, 0);
  EXPECT_EQ(found.distance->num_different, 1);
}

// Bytes that were kept as both types are compared as the type that the other side has.
TEST_F(CompareOutputs, TakeTheTypeThatBothHave) {
  const auto zeros = keep_f32("a", {0, 0});
  EXPECT_EQ(keep_bf16("a", {0, 0, 0, 0}), zeros);
  const auto found = outputs(of(kept("a", {zeros}), kept("b", {keep_f32("b", {0, 1})})));
  EXPECT_EQ(found.distance->num_elements, 2);
  EXPECT_FALSE(found.distance->relative_l2.has_value()) << "nothing is relative to zeros";
  const auto json = to_json(of(kept("a", {zeros}), kept("b", {keep_f32("b", {0, 1})})));
  EXPECT_FALSE(json.at("cases")[0].at("outputs").at("distance").contains("relative_l2"));
}

TEST_F(CompareOutputs, OfSeveralRunsTheFarthestCount) {
  const auto one = keep_bf16("a", {1, 0});
  const auto near = keep_bf16("b", {1.0078125f, 0});
  const auto far = keep_bf16("b", {2, 1});
  std::vector<NamedReport> of_b;
  of_b.push_back({"b.json", kept("b", {near})});
  of_b.push_back({"c.json", kept("b", {far})});
  of_b.back().report.run_id = "another";
  const auto found = outputs(compare(test::side_of(kept("a", {one}), "a.json"), Side(std::move(of_b)), {}));
  EXPECT_TRUE(found.b_unstable);
  EXPECT_DOUBLE_EQ(found.distance->relative_l2.value(), std::sqrt(2.0));
  EXPECT_EQ(found.distance->num_different, 2);
  EXPECT_EQ(found.distance->num_elements, 2);
}

TEST_F(CompareOutputs, WithoutThemSayHowToKeepThem) {
  const auto a = kept("a", {keep_bf16("a", {1})});
  auto b = kept("b", {keep_bf16("b", {2})});
  b.kept_outputs.reset();
  b.argv = {"branchmark", "bench", "bench-9b", "--keep-outputs", "x", "--report=r.json"};
  const auto comparison = of(a, b);
  const auto found = outputs(comparison);
  EXPECT_FALSE(found.distance.has_value());
  EXPECT_EQ(found.reason, "B kept no outputs");
  EXPECT_EQ(found.suggestion,
            "to see how far apart, on both sides: branchmark bench bench-9b --filter "
            "'^single/tokens=1,gemm=class$' --keep-outputs DIR");
  EXPECT_EQ(outputs(of(b, a)).reason, "A kept no outputs");
  for (const auto& text : {comparison_text(comparison, Colour::none), markdown_text(comparison),
                           html_text(comparison), json_text(to_json(comparison))})
    EXPECT_NE(text.find("--keep-outputs DIR"), std::string::npos) << text;
  // Of a run of two builds, the case of both.
  b.argv = {"branchmark", "bench", "bench-9b", "--against=x.so"};
  EXPECT_NE(outputs(of(a, b)).suggestion.find("'^single/tokens=1,gemm=class,side='"), std::string::npos);
  // Equal ones need none.
  EXPECT_EQ(outputs(of(b, b)).suggestion, "");
  EXPECT_EQ(outputs(of(b, b)).reason, "");
}

TEST_F(CompareOutputs, ThatAreMissingOrOfOtherSizesAreTold) {
  const auto one = keep_bf16("a", {1, 2});
  const std::string lost(64, '0');
  auto found = outputs(of(kept("a", {one}), kept("b", {lost})));
  EXPECT_EQ(found.reason, "B's output " + lost + " is not in " + (folder_.path() / "b").string());
  EXPECT_EQ(found.suggestion, "");
  found = outputs(of(kept("b", {lost}), kept("a", {one})));
  EXPECT_NE(found.reason.find("A's output " + lost), std::string::npos) << found.reason;
  found = outputs(of(kept("a", {one}), kept("b", {keep_bf16("b", {1, 2, 3})})));
  EXPECT_EQ(found.reason, "outputs of 4 and 6 bytes, which no distance compares");
  found = outputs(of(kept("a", {one}), kept("b", {keep_f32("b", {1, 2})})));
  EXPECT_EQ(found.reason, "outputs of two element types, which no distance compares");
  found = outputs(of(kept("a", {one, one}), kept("b", {one})));
  EXPECT_EQ(found.reason, "B's output without a digest is not in " + (folder_.path() / "b").string());
  // Another that can be measured is.
  found = outputs(of(kept("a", {one, one}), kept("b", {lost, keep_bf16("b", {2, 1})})));
  EXPECT_EQ(found.distance.value().num_outputs, 1);
  EXPECT_NE(found.reason, "");
}

TEST_F(CompareOutputs, ThatWereChangedEndTheComparison) {
  const auto a = kept("a", {keep_bf16("a", {1})});
  const auto digest = keep_bf16("b", {2});
  const auto b = kept("b", {digest});
  folder_.write("b/" + digest + ".bf16", "zz");
  expect_error(ErrorCode::usage, {digest + ".bf16", "sha256", "changed"}, [&] { of(a, b); });
}

TEST_F(CompareOutputs, AreInEveryRendering) {
  const auto comparison =
      of(kept("a", {keep_bf16("a", {1, 2})}), kept("b", {keep_bf16("b", {1.0078125f, 2})}));
  const auto json = to_json(comparison).at("cases")[0].at("outputs").at("distance");
  EXPECT_EQ(json, Json({{"outputs", 1},
                        {"relative_l2", 0.00349386},
                        {"max_ulp_bf16", 1},
                        {"different_elements", 1},
                        {"elements", 2}}));
  EXPECT_FALSE(to_json(comparison).at("outputs").contains("distance"));
  const auto told = "relative_l2 0.00349, at most 1 ulp of bf16, 1 of 2 elements differ";
  EXPECT_NE(comparison_text(comparison, Colour::none).find(told), std::string::npos);
  EXPECT_NE(html_text(comparison).find(told), std::string::npos);
  EXPECT_NE(html_text(comparison).find("Outputs that changed"), std::string::npos);
  EXPECT_NE(markdown_text(comparison).find("relative\\_l2 0.00349, at most 1 ulp of bf16"),
            std::string::npos);
}

}  // namespace
}  // namespace branchmark
