#include "branchmark/bench/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "branchmark/base/error.hpp"
#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

// Series over a clock that only samples move, with a record of whose turn it was.
class Rounds : public testing::Test {
 protected:
  // Each sample takes this long and shows it; `change` may do something else to it.
  Series& add(double time_ns, const std::function<void(Sample&, std::int64_t)>& change = {}) {
    auto& series = all_.emplace_back();
    const auto index = all_.size() - 1;
    counts_.push_back(0);
    series.take = [this, index, time_ns, change] {
      turns_.push_back(index);
      now_ += time_ns;
      Sample sample;
      sample.deciding_ns = sample.other_ns = time_ns;
      if (change) change(sample, counts_[index]);
      ++counts_[index];
      return sample;
    };
    return series;
  }

  void run(RoundsOptions options = {}) {
    options.now_ns = [this] { return now_; };
    std::vector<SeriesGroup> groups;
    for (auto& each : all_) groups.push_back({{&each}});
    run_rounds(groups, options);
  }

  std::deque<Series> all_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> turns_;
  double now_ = 0;
};

TEST_F(Rounds, TakeOneSampleOfEachSeriesInTurn) {
  for (int i = 0; i < 4; ++i) add(1e6);
  run();
  // After the warm-ups, five of each, every round holds each series once.
  ASSERT_EQ(turns_.size(), 4u * (5 + 10));
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t round = 0; round < 10; ++round) {
    const std::vector<std::size_t> order(turns_.begin() + 20 + round * 4, turns_.begin() + 24 + round * 4);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 4u);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 3u) << "the order is drawn anew each round";
  for (const auto& series : all_) {
    EXPECT_EQ(series.warm_up.size(), 5u);
    EXPECT_TRUE(series.steady);
    EXPECT_EQ(series.num_kept(), 10);
    EXPECT_EQ(series.stop, Stop::narrow);
  }
}

TEST_F(Rounds, TheSeedDecidesTheOrder) {
  const auto order_of = [this](std::uint64_t seed) {
    all_.clear();
    counts_.clear();
    turns_.clear();
    for (int i = 0; i < 6; ++i) add(1e6);
    RoundsOptions options;
    options.order_seed = seed;
    run(options);
    return turns_;
  };
  const auto first = order_of(1);
  EXPECT_EQ(order_of(1), first);
  EXPECT_NE(order_of(2), first);
}

TEST_F(Rounds, AFinishedSeriesIsLeftOut) {
  add(1e6);
  Random random(1, "noise");
  add(1e6, [&random](Sample& sample, std::int64_t) {
    sample.deciding_ns *= 1 + 0.05 * static_cast<double>(random.normal());
  });
  run();
  EXPECT_EQ(all_[0].samples.size(), 10u);
  EXPECT_GT(all_[1].samples.size(), 20u);
  EXPECT_EQ(all_[1].stop, Stop::narrow);
}

TEST_F(Rounds, TaggedSamplesStayAndDoNotCount) {
  auto& series = add(1e6, [](Sample& sample, std::int64_t number) {
    if (number % 2 == 0) sample.tag = "thermal_slowdown";
  });
  run();
  EXPECT_EQ(series.num_kept(), 10);
  EXPECT_GE(series.samples.size(), 19u);
  EXPECT_EQ(series.stop, Stop::narrow);
}

TEST_F(Rounds, OnlyTaggedSamplesSpendTheBudget) {
  auto& series = add(1e6, [](Sample& sample, std::int64_t) { sample.tag = "thermal_slowdown"; });
  RoundsOptions options;
  options.stopping.budget_ns = 40e6;
  run(options);
  EXPECT_EQ(series.num_kept(), 0);
  EXPECT_EQ(series.samples.size(), 40u);
  EXPECT_EQ(series.stop, Stop::budget_spent);
}

TEST_F(Rounds, AnErrorEndsItsOwnSeries) {
  auto& failing = add(1e6, [](Sample&, std::int64_t number) {
    if (number == 7) throw Error(ErrorCode::kernel, "failed");
  });
  auto& other = add(1e6);
  run();
  EXPECT_TRUE(failing.error);
  EXPECT_EQ(failing.samples.size(), 2u);
  EXPECT_FALSE(other.error);
  EXPECT_EQ(other.num_kept(), 10);
}

TEST_F(Rounds, ALostDeviceEndsAllThatStillWantSamples) {
  for (int i = 0; i < 3; ++i)
    add(1e6, [i](Sample&, std::int64_t number) {
      if (i == 1 && number == 8) throw Error(ErrorCode::hardware_fault, "lost");
    });
  run();
  for (const auto& series : all_) {
    EXPECT_TRUE(series.error);
    EXPECT_LT(series.num_kept(), 5);
  }
}

TEST_F(Rounds, ASeriesThatFailedBeforeIsNotTaken) {
  auto& series = add(1e6);
  series.error = std::make_exception_ptr(Error(ErrorCode::not_eligible, "too little memory"));
  series.stop = Stop::budget_spent;
  run();
  EXPECT_TRUE(turns_.empty());
}

TEST_F(Rounds, AGroupIsTakenForwardsAndBackwardsByTurns) {
  for (int i = 0; i < 4; ++i) add(1e6);
  RoundsOptions options;
  options.now_ns = [this] { return now_; };
  run_rounds({SeriesGroup{{&all_[0], &all_[1]}}, SeriesGroup{{&all_[2], &all_[3]}}}, options);
  // Behind the warm-ups, five of each, every series of a group stands beside the other, in either order.
  const std::vector<std::size_t> turns(turns_.begin() + 20, turns_.end());
  ASSERT_EQ(turns.size(), 40u);
  std::vector<std::size_t> first_group;
  for (std::size_t i = 0; i < turns.size(); i += 2) {
    EXPECT_EQ(turns[i] / 2, turns[i + 1] / 2) << "turn " << i / 2;
    EXPECT_NE(turns[i], turns[i + 1]);
    if (turns[i] < 2) first_group.push_back(turns[i]);
  }
  EXPECT_EQ(first_group, (std::vector<std::size_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST_F(Rounds, AGroupGoesOnUntilTheLastHasEnough) {
  auto& quiet = add(1e6);
  Random random(1, "noise");
  auto& noisy = add(1e6, [&random](Sample& sample, std::int64_t) {
    sample.deciding_ns *= 1 + 0.05 * static_cast<double>(random.normal());
  });
  RoundsOptions options;
  options.now_ns = [this] { return now_; };
  run_rounds({SeriesGroup{{&quiet, &noisy}}}, options);
  EXPECT_GT(noisy.samples.size(), 20u);
  EXPECT_EQ(quiet.samples.size(), noisy.samples.size());
}

TEST_F(Rounds, ProgressTellsWhatIsOpen) {
  add(1e6);
  add(1e6);
  std::vector<std::size_t> open;
  RoundsOptions options;
  options.progress = [&](std::int64_t round, std::size_t total, std::size_t left) {
    EXPECT_EQ(round, static_cast<std::int64_t>(open.size()) + 1);
    EXPECT_EQ(total, 2u);
    open.push_back(left);
  };
  run(options);
  ASSERT_EQ(open.size(), 10u);
  EXPECT_EQ(open.front(), 2u);
  EXPECT_EQ(open.back(), 0u);
}

}  // namespace
}  // namespace branchmark
