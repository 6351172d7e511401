#include "branchmark/model/profile.hpp"

#include <gtest/gtest.h>

#include "folder.hpp"

namespace branchmark {
namespace {

TEST(Profile, DefaultIsShareable) {
  const Profile profile;
  EXPECT_TRUE(profile.shareable());
  EXPECT_EQ(profile.describe(), "default");
  EXPECT_EQ(profile.activation(), BMK_BF16);
  EXPECT_EQ(profile.numerics(), BMK_NUMERICS_DEFAULT);
  EXPECT_NO_THROW(require_shareable(profile, "forward_shared"));
}

TEST(Profile, EachDeviationAloneAndTogetherIsRefusedByName) {
  for (unsigned bits = 1; bits < 8; ++bits) {
    const Profile profile{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    std::vector<std::string> parts = {"forward_shared: refused: " + profile.describe()};
    if (profile.unmerged_adapter) parts.push_back("unmerged LoRA adapter");
    if (profile.reference_numerics) parts.push_back("numerics reference");
    if (profile.gdn_fp32) parts.push_back("gdn fp32");
    test::expect_error(ErrorCode::refused, parts, [&] { require_shareable(profile, "forward_shared"); });
  }
}

TEST(Profile, MessageIsASentence) {
  test::expect_error(
      ErrorCode::refused,
      {"forward_fixed: refused: unmerged LoRA adapter, numerics reference; shared execution is "
       "proven for merged weights and default numerics only"},
      [] {
        require_shareable({true, true, false}, "forward_fixed");
      });
}

TEST(Profile, ReferenceNumericsAdmitsGdnFp32AndIsFloat32Throughout) {
  const Profile profile{false, true, true};
  EXPECT_EQ(profile.numerics(), BMK_NUMERICS_REFERENCE);
  EXPECT_EQ(profile.activation(), BMK_F32);
}

}  // namespace
}  // namespace branchmark
