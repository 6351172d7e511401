#include "branchmark/base/digest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace branchmark {
namespace {

// Examples of FIPS 180-4, published by NIST.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The length field begins in a block of its own from 56 bytes on.
TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>('a' + i % 26);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    for (const std::size_t first : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}}) {
      Sha256 pieces;
      pieces.update(whole.substr(0, first));
      if (first < length) pieces.update(whole.substr(first));
      ASSERT_EQ(pieces.hex(), sha256_hex(whole)) << length << ' ' << first;
    }
  }
}

}  // namespace
}  // namespace branchmark
