#include "branchmark/bench/rounds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "branchmark/base/error.hpp"
#include "branchmark/base/random.hpp"
#include "branchmark/bench/call_timer.hpp"

namespace branchmark {
namespace {

bool is_hardware_fault(const std::exception_ptr& pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    return error.code() == ErrorCode::hardware_fault;
  } catch (...) {
    return false;
  }
}

// Fisher and Yates.
std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  return order;
}

class Rounds {
 public:
  Rounds(const std::vector<SeriesGroup>& groups, const RoundsOptions& options)
      : options_(options), now_(options.now_ns ? options.now_ns : now_ns) {
    for (const auto& group : groups) {
      auto& members = groups_.emplace_back().members;
      for (auto* series : group.members) members.push_back({series, StoppingRule(options.stopping)});
    }
  }

  void run() {
    Random random(options_.order_seed, "rounds");
    for (const auto index : shuffled(groups_.size(), random))
      for (auto& member : groups_[index].members) warm_up(*member.series);
    for (std::int64_t round = 1; open() > 0; ++round) {
      for (const auto index : shuffled(groups_.size(), random))
        if (wants_samples(groups_[index])) sample(groups_[index]);
      if (options_.progress) options_.progress(round, groups_.size(), open());
    }
  }

 private:
  struct Member {
    Series* series;
    StoppingRule rule;
  };
  struct Group {
    std::vector<Member> members;
    std::int64_t turns = 0;
  };

  static bool wants_samples(const Group& group) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [](const Member& member) { return member.series->stop == Stop::go_on; });
  }

  std::size_t open() const {
    return static_cast<std::size_t>(std::count_if(groups_.begin(), groups_.end(), wants_samples));
  }

  // Takes a sample and what it cost; empty where the series has ended with an error.
  std::optional<std::pair<Sample, double>> take(Series& series, const std::function<Sample()>& how) {
    const double begin = now_();
    try {
      auto sample = how();
      return std::pair{std::move(sample), now_() - begin};
    } catch (...) {
      fail(series, std::current_exception());
      return std::nullopt;
    }
  }

  void fail(const Series& failed, const std::exception_ptr& error) {
    const bool all = is_hardware_fault(error);
    for (auto& group : groups_)
      for (auto& member : group.members) {
        auto& series = *member.series;
        const bool ends = &series == &failed || (all && series.stop == Stop::go_on);
        if (!ends) continue;
        series.error = error;
        series.stop = Stop::budget_spent;
      }
  }

  void warm_up(Series& series) {
    WarmUp rule(options_.warm_up);
    while (series.stop == Stop::go_on && !rule.done()) {
      auto taken = take(series, series.take_warm_up ? series.take_warm_up : series.take);
      if (!taken) return;
      // The clock of a device at its power limit never stands.
      const auto clock_mhz = taken->first.power_capped ? std::nullopt : taken->first.clock_mhz;
      rule.add(taken->first.deciding_ns, clock_mhz, taken->second);
      series.warm_up.push_back(std::move(taken->first));
    }
    series.steady = rule.steady();
  }

  void sample(Group& group) {
    std::vector<Member*> order;
    for (auto& member : group.members) order.push_back(&member);
    if (group.turns++ % 2 == 1) std::reverse(order.begin(), order.end());
    for (auto* member : order)
      if (!member->series->error) sample(*member);
  }

  void sample(Member& member) {
    auto& series = *member.series;
    auto taken = take(series, series.take);
    if (!taken) return;
    auto& [sample, cost] = *taken;
    member.rule.spend(cost);
    if (sample.tag.empty()) member.rule.add(sample.deciding_ns);
    series.samples.push_back(std::move(sample));
    series.stop = member.rule.state();
  }

  const RoundsOptions& options_;
  std::function<double()> now_;
  std::vector<Group> groups_;
};

}  // namespace

std::int64_t Series::num_kept() const {
  return std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.tag.empty(); });
}

void run_rounds(const std::vector<SeriesGroup>& groups, const RoundsOptions& options) {
  Rounds(groups, options).run();
}

}  // namespace branchmark
