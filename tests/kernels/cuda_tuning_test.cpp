// The host-only logic behind the CUDA module's GEMM handles: names, tables by rows, the cache file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "class_cache.hpp"
#include "few_rows.hpp"
#include "fingerprint.hpp"
#include "row_table.hpp"

namespace branchmark::cuda {
namespace {

using Rows = std::vector<std::int64_t>;

TEST(Fingerprint, NamesEverySetting) {
  AlgorithmSettings settings;
  settings.id = 66;
  settings.tile = 20;
  settings.stages = 36;
  settings.cluster_shape = 5;
  EXPECT_EQ(fingerprint(settings),
            "id=66 tile=20 stages=36 split=1 reduction=0 swizzle=0 custom=0 inner=0 cluster=5");
}

TEST(Fingerprint, DiffersWhereAnySettingDoes) {
  std::vector<AlgorithmSettings> variants(10);
  variants[1].id = 7;
  variants[2].tile = 7;
  variants[3].stages = 7;
  variants[4].split_k = 7;
  variants[5].reduction = 7;
  variants[6].swizzle = 7;
  variants[7].custom = 7;
  variants[8].inner_shape = 7;
  variants[9].cluster_shape = 7;
  std::set<std::string> texts;
  for (const AlgorithmSettings& settings : variants) texts.insert(fingerprint(settings));
  EXPECT_EQ(texts.size(), variants.size());
}

TEST(Fingerprint, FitsTheAbiAtItsLongest) {
  AlgorithmSettings settings;
  settings.id = settings.split_k = INT32_MIN;
  settings.tile = settings.stages = settings.reduction = settings.swizzle = settings.custom = UINT32_MAX;
  settings.inner_shape = settings.cluster_shape = UINT16_MAX;
  EXPECT_LT(fingerprint(settings).size(), 160u);
}

TEST(Fingerprint, OnlyOnePieceAndNoReductionIsUnsplit) {
  AlgorithmSettings settings;
  EXPECT_TRUE(is_unsplit(settings));
  settings.split_k = 0;
  EXPECT_TRUE(is_unsplit(settings));
  settings.split_k = -1;
  EXPECT_FALSE(is_unsplit(settings));
  settings.split_k = 2;
  EXPECT_FALSE(is_unsplit(settings));
  settings.split_k = 1;
  settings.reduction = 2;
  EXPECT_FALSE(is_unsplit(settings));
}

const FewRowsPlace kH200 = {true, 132, 2560};

TEST(FewRows, NamesEverySettingAndFitsTheAbi) {
  EXPECT_EQ(fingerprint(FewRowsSettings{FewRowsFamily::kWgmma, 64, 24, 4}),
            "branchmark few_rows wgmma tile=64x24 cluster=4 stages=10");
  std::set<std::string> texts;
  const std::vector<FewRowsSettings> list = few_rows_settings(kH200);
  for (const FewRowsSettings& settings : list) {
    texts.insert(fingerprint(settings));
    EXPECT_LT(fingerprint(settings).size(), 160u);
  }
  EXPECT_EQ(texts.size(), list.size());
}

TEST(FewRows, EveryPipelineFitsItsDevices) {
  for (const FewRowsSettings& settings : few_rows_settings(kH200)) {
    const int stages = few_rows_stages(settings.family, settings.tile_rows, settings.tile_columns);
    const int bytes = stages * few_rows_stage_bytes(settings.tile_rows, settings.tile_columns);
    EXPECT_GE(stages, 3) << fingerprint(settings);
    EXPECT_LE(bytes, (settings.family == FewRowsFamily::kWgmma ? 226 : 99) * 1024) << fingerprint(settings);
  }
}

TEST(FewRows, OnlyTheDeviceThatHasItRunsWgmma) {
  FewRowsPlace place = kH200;
  place.has_wgmma = false;
  const std::vector<FewRowsSettings> list = few_rows_settings(place);
  EXPECT_FALSE(list.empty());
  for (const FewRowsSettings& settings : list) EXPECT_EQ(settings.family, FewRowsFamily::kMma);
}

TEST(FewRows, ManyColumnsLeaveOutSmallTiles) {
  FewRowsPlace place = kH200;
  place.columns = 18432;
  for (const FewRowsSettings& settings : few_rows_settings(place))
    EXPECT_GE(settings.tile_columns, settings.family == FewRowsFamily::kWgmma ? 64 : 32);
  place.columns = 248320;
  EXPECT_TRUE(few_rows_settings(place).empty());
}

TEST(FewRows, ServeTheirRowsAndNoMore) {
  const FewRowsSettings wgmma = {FewRowsFamily::kWgmma, 64, 24, 4};
  EXPECT_TRUE(serves(wgmma, 2561, 1));
  EXPECT_TRUE(serves(wgmma, 2560, 128));
  EXPECT_FALSE(serves(wgmma, 2560, 129));
  const FewRowsSettings mma = {FewRowsFamily::kMma, 32, 16, 1};
  EXPECT_TRUE(serves(mma, 2560, 32));
  EXPECT_FALSE(serves(mma, 2560, 33));
  EXPECT_FALSE(serves(mma, 2561, 32));
}

TEST(RowTable, TakesTheSmallestBoundThatIsNotBelow) {
  const RowTable table = {{1, 4}, {64, 5}, {256, 6}};
  EXPECT_EQ(find_entry(RowTable{}, 1), nullptr);
  EXPECT_EQ(find_entry(table, 1)->algorithm, 4);
  EXPECT_EQ(find_entry(table, 2)->algorithm, 5);
  EXPECT_EQ(find_entry(table, 64)->algorithm, 5);
  EXPECT_EQ(find_entry(table, 65)->algorithm, 6);
  EXPECT_EQ(find_entry(table, 100000)->algorithm, 6);
}

TEST(RowTable, StaysSortedAndWithoutTwins) {
  RowTable table;
  for (const RowEntry entry : {RowEntry{64, 1}, {1, 2}, {256, 3}, {64, 4}}) insert_entry(table, entry);
  EXPECT_EQ(table, (RowTable{{1, 2}, {64, 4}, {256, 3}}));
}

TEST(RowTable, StandardBoundsAscendFromOne) {
  const auto bounds = standard_row_bounds();
  EXPECT_EQ(bounds.front(), 1);
  for (std::size_t i = 1; i < bounds.size(); ++i) EXPECT_LT(bounds[i - 1], bounds[i]);
}

TEST(RowTable, MissingBoundsAreTheStandardOnesAndTheWanted) {
  const Rows wanted = {304, 0, 300, 304, 256, 5000};
  const Rows missing = missing_bounds({}, wanted, 512, 8);
  EXPECT_EQ(missing, (Rows{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 300, 304, 384, 512}));

  RowTable table;
  for (const std::int64_t rows : missing) insert_entry(table, {rows, 0});
  EXPECT_EQ(missing_bounds(table, wanted, 512, 8), Rows{});
  EXPECT_EQ(missing_bounds(table, Rows{305}, 512, 8), Rows{305});
}

TEST(RowTable, ExtraBoundsAreLimitedOverTheTablesLife) {
  RowTable table;
  for (const std::int64_t rows : missing_bounds({}, Rows{3, 5, 7}, 8192, 2)) insert_entry(table, {rows, 0});
  EXPECT_NE(find_entry(table, 3)->rows, 4);
  EXPECT_NE(find_entry(table, 5)->rows, 8);
  EXPECT_EQ(find_entry(table, 7)->rows, 8);
  EXPECT_EQ(missing_bounds(table, Rows{7}, 8192, 2), Rows{});
}

TEST(RowTable, Median) {
  EXPECT_EQ(median({3.0}), 3.0);
  EXPECT_EQ(median({3.0, 1.0}), 2.0);
  EXPECT_EQ(median({9.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({9.0, 1.0, 2.0, 4.0}), 3.0);
}

TEST(RowTable, FastestByMedianAndTiesByIndex) {
  EXPECT_EQ(fastest(std::vector<Timing>{{7, {2.0, 2.0, 2.0}}, {3, {1.0, 1.0, 9.0}}}), 3);
  EXPECT_EQ(fastest(std::vector<Timing>{{7, {1.000}}, {3, {1.004}}, {1, {1.1}}}), 3);
  EXPECT_EQ(fastest(std::vector<Timing>{{7, {1.000}}, {3, {1.006}}}), 7);
}

TEST(RowTable, FrontRunnersAreTheCloseOnesInOrder) {
  const std::vector<Timing> timings = {{0, {1.2}}, {1, {1.05}}, {2, {1.0}}, {3, {1.07}}};
  EXPECT_EQ(front_runners(timings, 0.08, 9), (std::vector<std::size_t>{2, 1, 3}));
  EXPECT_EQ(front_runners(timings, 0.08, 2), (std::vector<std::size_t>{2, 1}));
}

ClassEntry make_entry(std::int64_t n) {
  ClassEntry entry;
  entry.key = {"NVIDIA H200", "GPU-00", "580.1 (CUDA 13.0)", "13.1.0", n, 64, 64, 64, 128};
  entry.fingerprints = {"id=1", "id=2", "id=3"};
  entry.is_member = {true, true, false};
  entry.class_digest = "0123456789abcdef";
  entry.table = {{1, 1}, {64, 0}};
  return entry;
}

TEST(ClassCache, ReadsBackWhatItWrote) {
  const std::vector<ClassEntry> entries = {make_entry(64), make_entry(128)};
  EXPECT_EQ(parse_class_cache(format_class_cache(entries)), entries);
  EXPECT_EQ(parse_class_cache(format_class_cache({})), std::vector<ClassEntry>{});
}

TEST(ClassCache, TakesNothingFromAnotherFormat) {
  for (const char* text :
       {"", "{", "[]", "7", "{\"format\":\"other\",\"version\":1,\"entries\":[]}",
        "{\"format\":\"branchmark-class-cache\",\"version\":2,\"entries\":[]}",
        "{\"format\":\"branchmark-class-cache\",\"version\":1}",
        "{\"format\":\"branchmark-class-cache\",\"version\":1,\"entries\":7}",
        "{\"format\":\"branchmark-class-cache\",\"version\":1,\"entries\":[7,{},{\"n\":\"x\"}]}"})
    EXPECT_EQ(parse_class_cache(text), std::vector<ClassEntry>{}) << text;
}

TEST(ClassCache, LeavesOutEntriesThatAreNotWhole) {
  ClassEntry not_a_member = make_entry(1);
  not_a_member.table = {{1, 2}};
  ClassEntry outside = make_entry(2);
  outside.table = {{1, 3}};
  ClassEntry negative = make_entry(3);
  negative.table = {{1, -1}};
  ClassEntry no_table = make_entry(4);
  no_table.table = {};
  ClassEntry fixed_is_none = make_entry(5);
  fixed_is_none.is_member[0] = false;
  const ClassEntry whole = make_entry(6);
  const std::string text =
      format_class_cache({not_a_member, outside, negative, no_table, fixed_is_none, whole});
  EXPECT_EQ(parse_class_cache(text), std::vector<ClassEntry>{whole});
}

TEST(ClassCache, MergeReplacesTheEntryOfTheSameKey) {
  std::vector<ClassEntry> entries = {make_entry(1), make_entry(2)};
  ClassEntry changed = make_entry(1);
  changed.class_digest = "changed";
  merge_entry(entries, changed);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].class_digest, "changed");
  merge_entry(entries, make_entry(3));
  EXPECT_EQ(entries.size(), 3u);
}

TEST(ClassCache, AnyPartOfTheKeyTellsEntriesApart) {
  const std::vector<ClassEntry> entries = {make_entry(64)};
  ASSERT_NE(find_entry(entries, make_entry(64).key), nullptr);
  for (const auto change :
       {+[](ClassKey& key) { key.device_name = "other"; }, +[](ClassKey& key) { key.device_uuid = "other"; },
        +[](ClassKey& key) { key.driver_version = "other"; },
        +[](ClassKey& key) { key.blas_version = "other"; }, +[](ClassKey& key) { ++key.n; },
        +[](ClassKey& key) { ++key.k; }, +[](ClassKey& key) { ++key.x_stride; },
        +[](ClassKey& key) { ++key.w_stride; }, +[](ClassKey& key) { ++key.y_stride; }}) {
    ClassKey key = make_entry(64).key;
    change(key);
    EXPECT_EQ(find_entry(entries, key), nullptr);
  }
}

class ClassCacheFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("branchmark-cache-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(ClassCacheFile, IsMadeWithItsFolderAndLeavesNoTemporary) {
  const std::string path = (folder_ / "a" / "classes.json").string();
  EXPECT_EQ(read_class_cache(path), std::vector<ClassEntry>{});
  EXPECT_EQ(update_class_cache(path, make_entry(1)), "");
  EXPECT_EQ(update_class_cache(path, make_entry(2)), "");
  EXPECT_EQ(read_class_cache(path), (std::vector<ClassEntry>{make_entry(1), make_entry(2)}));
  const std::filesystem::directory_iterator files(folder_ / "a");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(ClassCacheFile, ADamagedFileIsReplaced) {
  std::filesystem::create_directories(folder_);
  const std::string path = (folder_ / "classes.json").string();
  std::ofstream(path) << "{\"format\":\"branchmark-cl";
  EXPECT_EQ(update_class_cache(path, make_entry(1)), "");
  EXPECT_EQ(read_class_cache(path), std::vector<ClassEntry>{make_entry(1)});
}

TEST_F(ClassCacheFile, APlaceThatCannotBeWrittenGivesAReason) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "not a folder";
  EXPECT_NE(update_class_cache((folder_ / "file" / "classes.json").string(), make_entry(1)), "");
  EXPECT_NE(update_class_cache(folder_.string(), make_entry(1)), "");
  EXPECT_TRUE(std::filesystem::is_directory(folder_));
}

}  // namespace
}  // namespace branchmark::cuda
