#include "branchmark/model/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "branchmark/base/random.hpp"
#include "branchmark/model/safetensors_header.hpp"
#include "folder.hpp"

namespace branchmark {
namespace {

using test::safetensors_text;
using test::StoredTensor;

StoredTensor embedding(const std::string& name = "model.embed_tokens.weight") {
  return {name, "F32", {2, 2}, test::bytes_of<float>({1, 2, 3, 4})};
}

TEST(Safetensors, ReadsARealFile) {
  const Safetensors file(test::kMini / "expected.safetensors");
  EXPECT_TRUE(file.contains("full_65.input_ids"));
  EXPECT_EQ(file.at("full_65.input_ids", TensorType::i64, {65}).data.size(), 65u * 8);
  const auto names = file.names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(file.header().front(), '{');
  EXPECT_EQ(file.file_bytes(),
            static_cast<std::int64_t>(std::filesystem::file_size(test::kMini / "expected.safetensors")));
  test::expect_error(ErrorCode::usage, {"full_65.input_ids", "I64 [65]", "F32 [64]"},
                     [&] { file.at("full_65.input_ids", TensorType::f32, {64}); });
}

TEST(Safetensors, OddOffsetsEmptyTensorsAndScalars) {
  const test::Folder folder;
  const Safetensors file(folder.write("odd", safetensors_text({{"a", "U8", {3}, "xyz"},
                                                               {"b", "F32", {}, test::bytes_of<float>({7})},
                                                               {"c", "BF16", {0, 5}, ""}})));
  float value = 0;
  std::memcpy(&value, file.at("b").data.data(), sizeof value);
  EXPECT_EQ(value, 7);
  EXPECT_TRUE(file.at("c").data.empty());
  test::expect_error(ErrorCode::usage, {"\"a\"", "U8", "BF16"}, [&] { file.at("a"); });
  test::expect_error(ErrorCode::usage, {"\"d\"", "missing"}, [&] { file.at("d"); });
}

struct Hostile {
  const char* header;
  const char* said;
};

// Each header stands before 16 bytes of data.
const Hostile kHostile[] = {
    {"", "begin"},
    {"[]", "begin"},
    {" {}", "begin"},
    {"{}", "cover 0 bytes"},
    {"{} {}", "JSON"},
    {"{\"a\": [}", ""},
    {"{\"a\": 1}", "the number 1"},
    {"{\"a\": null}", "null"},
    {"{\"a\": [[[[[[]]]]]]}", "an array"},
    {"{\"__metadata__\": {\"x\": 1}}", "__metadata__"},
    {"{\"__metadata__\": {\"x\": {}}}", "__metadata__"},
    {"{\"__metadata__\": {}, \"__metadata__\": {}}", "duplicate"},
    {"{\"a\": {}}", "dtype is missing"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4]}}", "data_offsets is missing"},
    {"{\"a\": {\"dtype\": 5, \"shape\": [4], \"data_offsets\": [0, 16]}}", "dtype"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": {}, \"data_offsets\": [0, 16]}}", "shape"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [[4]], \"data_offsets\": [0, 16]}}", "nested"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [-4], \"data_offsets\": [0, 16]}}", "-4"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4.0], \"data_offsets\": [0, 16]}}", "4.0"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0]}}", "found 1 numbers"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 8, 16]}}", "found 3 numbers"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [16, 0]}}", "[16, 0]"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [5], \"data_offsets\": [0, 20]}}", "[0, 20]"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 16]}}", "3 elements"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 9223372036854775808]}}", "2^63"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 99999999999999999999]}}", "number"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4611686018427387905, 4], \"data_offsets\": [0, 16]}}",
     "overflow"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4611686018427387908], \"data_offsets\": [0, 16]}}",
     "elements"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16], \"x\": 1}}", "unknown key"},
    {"{\"a\": {\"dtype\": \"F32\", \"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]}}",
     "duplicate key"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}", "cover 8 bytes"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 16]}}", "expected 0"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]},"
     " \"b\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [8, 16]}}",
     "overlap"},
    {"{\"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]},"
     " \"a\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]}}",
     "duplicate tensor"},
    {"{\"\xc3\x28\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]}}", "UTF-8"},
};

TEST(Safetensors, K48HostileHeadersAreRefused) {
  const test::Folder folder;
  for (const auto& [header, said] : kHostile) {
    SCOPED_TRACE(header);
    const auto file = folder.write("hostile", safetensors_text(header, std::string(16, 'x')));
    test::expect_error(ErrorCode::usage, {file.string(), said}, [&] { const Safetensors opened(file); });
  }
}

TEST(Safetensors, K48HostileLengths) {
  const test::Folder folder;
  const std::string good = safetensors_text({embedding()});
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto file = folder.write("cut", good.substr(0, length));
    test::expect_error(ErrorCode::usage, {}, [&] { const Safetensors opened(file); });
  }
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{7}, std::uint64_t{1} << 32}) {
    const auto file = folder.write("long", safetensors_text("{}", "", length));
    test::expect_error(ErrorCode::usage, {"header length", std::to_string(length)},
                       [&] { const Safetensors opened(file); });
  }
  // A file that is as long as its header claims, but past the limit; sparse, so that it takes no room.
  const auto file = folder.write("huge", safetensors_text("{", "", 100'000'001));
  std::filesystem::resize_file(file, 100'000'001 + 8);
  test::expect_error(ErrorCode::usage, {"header length"}, [&] { const Safetensors opened(file); });
}

TEST(Safetensors, K48DeepNestingAndNulBytes) {
  const test::Folder folder;
  for (const std::string& header :
       {"{\"a\": " + std::string(1 << 20, '['), "{\"a\": " + std::string(1 << 20, '{'),
        std::string("{}\0{}", 5), "{\"" + std::string(1 << 20, 'n') + "\": {}}"}) {
    const auto file = folder.write("deep", safetensors_text(header, ""));
    test::expect_error(ErrorCode::usage, {}, [&] { const Safetensors opened(file); });
  }
}

// Random changes of a small file are either refused or leave every tensor inside the file; the sanitizer
// build of this test watches the reads.
TEST(Safetensors, K48ChangedBytes) {
  const test::Folder folder;
  const std::string good = safetensors_text({embedding(), {"b", "BF16", {3}, "abcdef"}});
  Random random(1, "changed bytes");
  const auto changed = [&](std::string text) {
    for (std::uint32_t changes = 1 + random.below(3); changes > 0; --changes)
      text[random.below(static_cast<std::uint32_t>(text.size()))] = static_cast<char>(random.below(256));
    return text;
  };
  const auto tolerate_refusal = [](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage) << error.what();
    }
  };
  for (int round = 0; round < 200; ++round)
    tolerate_refusal([&] {
      const Safetensors opened(folder.write("changed", changed(good)));
      for (const auto& name : opened.names())
        for (const std::byte b : opened.at(name).data) ASSERT_LE(std::to_integer<int>(b), 255);
    });
  const std::string header = good.substr(8, good.size() - 8 - 22);
  for (int round = 0; round < 5000; ++round)
    tolerate_refusal([&] {
      for (const auto& [name, entry] : parse_safetensors_header(changed(header), 22, "changed")) {
        EXPECT_LE(entry.begin, entry.end);
        EXPECT_LE(entry.end, 22u);
      }
    });
  EXPECT_EQ(parse_safetensors_header(header, 22, "whole").size(), 2u);
}

TEST(Safetensors, NotAFile) {
  const test::Folder folder;
  test::expect_error(ErrorCode::io, {"absent", "No such file"},
                     [&] { const Safetensors opened(folder.path() / "absent"); });
  test::expect_error(ErrorCode::usage, {"regular file"}, [&] { const Safetensors opened(folder.path()); });
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  test::expect_error(ErrorCode::usage, {"regular file"}, [&] { const Safetensors opened(pipe); });
}

TEST(Checkpoint, FindsThePrefix) {
  EXPECT_EQ(Checkpoint(test::kMini).prefix(), "model.language_model.");
  EXPECT_TRUE(Checkpoint(test::kMini).contains("layers.3.self_attn.q_proj.weight"));
  EXPECT_FALSE(Checkpoint(test::kMini).contains("layers.4.self_attn.q_proj.weight"));
  for (const std::string prefix : {"model.", ""}) {
    const test::Folder folder;
    folder.write("model.safetensors", safetensors_text({embedding(prefix + "embed_tokens.weight")}));
    const Checkpoint checkpoint(folder.path());
    EXPECT_EQ(checkpoint.prefix(), prefix);
    test::expect_error(ErrorCode::usage, {prefix + "norm.weight", "missing"},
                       [&] { checkpoint.at("norm.weight"); });
  }
  const test::Folder folder;
  folder.write("model.safetensors", safetensors_text({embedding("other.embed_tokens.weight")}));
  test::expect_error(ErrorCode::usage, {"embed_tokens.weight"}, [&] { const Checkpoint c(folder.path()); });
}

class Shards : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("one.safetensors", safetensors_text({embedding(), {"spare", "F32", {0}, ""}}));
    folder_.write("two.safetensors", safetensors_text({{"model.norm.weight", "BF16", {2}, "abcd"}}));
  }
  void refused(const std::string& index, const std::vector<std::string>& said) {
    folder_.write("model.safetensors.index.json", index);
    test::expect_error(ErrorCode::usage, said, [&] { const Checkpoint checkpoint(folder_.path()); });
  }
  static std::string index(const Json& map) { return Json{{"weight_map", map}}.dump(); }

  test::Folder folder_;
};

TEST_F(Shards, AreFoundByTheIndex) {
  folder_.write("model.safetensors.index.json", index({{"model.embed_tokens.weight", "one.safetensors"},
                                                       {"model.norm.weight", "two.safetensors"}}));
  const Checkpoint checkpoint(folder_.path());
  EXPECT_EQ(checkpoint.files().size(), 2u);
  EXPECT_EQ(checkpoint.at("norm.weight").data.size(), 4u);
  EXPECT_FALSE(checkpoint.contains("spare"));
}

TEST_F(Shards, K48WrongIndexesAreRefused) {
  refused(index({{"model.embed_tokens.weight", "three.safetensors"}}), {"three.safetensors", "missing"});
  refused(index({{"model.embed_tokens.weight", "two.safetensors"}}),
          {"model.embed_tokens.weight", "not in its shard two.safetensors"});
  for (const char* name : {"../one.safetensors", "/etc/passwd", "..", ".", "", "a/b", "a\\b"})
    refused(index({{"model.embed_tokens.weight", name}}), {"weight_map", "name of a file"});
  refused(index({{"model.embed_tokens.weight", std::string("one.safetensors\0x", 17)}}), {"name of a file"});
  refused(index({{"model.embed_tokens.weight", 7}}), {"weight_map", "7"});
  refused(index(Json::object()), {"weight_map"});
  refused(index(3), {"weight_map"});
  refused("{}", {"weight_map"});
  refused("[]", {"object"});
  refused("{\"weight_map\": {\"a\": \"x\", \"a\": \"y\"}}", {"duplicate"});
  refused(std::string(1 << 16, '['), {"nested"});
}

TEST_F(Shards, WithoutIndexOrFolder) {
  test::expect_error(ErrorCode::usage, {"model.safetensors", "model.safetensors.index.json"},
                     [&] { const Checkpoint checkpoint(folder_.path()); });
  test::expect_error(ErrorCode::usage, {"no such folder"},
                     [&] { const Checkpoint checkpoint(folder_.path() / "absent"); });
}

}  // namespace
}  // namespace branchmark
