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
  Rounds(const std::vector<Series*>& series, const RoundsOptions& options)
      : series_(series),
        options_(options),
        now_(options.now_ns ? options.now_ns : now_ns),
        rules_(series.size(), StoppingRule(options.stopping)) {}

  void run() {
    Random random(options_.order_seed, "rounds");
    for (const auto index : shuffled(series_.size(), random)) warm_up(index);
    for (std::int64_t round = 1; open() > 0; ++round) {
      for (const auto index : shuffled(series_.size(), random))
        if (series_[index]->stop == Stop::go_on) sample(index);
      if (options_.progress) options_.progress(round, series_.size(), open());
    }
  }

 private:
  std::size_t open() const {
    return static_cast<std::size_t>(std::count_if(series_.begin(), series_.end(),
                                                  [](const Series* s) { return s->stop == Stop::go_on; }));
  }

  // Takes a sample and what it cost; empty where the series has ended with an error.
  std::optional<std::pair<Sample, double>> take(std::size_t index, const std::function<Sample()>& how) {
    const double begin = now_();
    try {
      auto sample = how();
      return std::pair{std::move(sample), now_() - begin};
    } catch (...) {
      fail(index, std::current_exception());
      return std::nullopt;
    }
  }

  void fail(std::size_t index, const std::exception_ptr& error) {
    const bool all = is_hardware_fault(error);
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const bool ends = i == index || (all && series_[i]->stop == Stop::go_on);
      if (!ends) continue;
      series_[i]->error = error;
      series_[i]->stop = Stop::budget_spent;
    }
  }

  void warm_up(std::size_t index) {
    auto& series = *series_[index];
    WarmUp rule(options_.warm_up);
    while (series.stop == Stop::go_on && !rule.done()) {
      auto taken = take(index, series.take_warm_up ? series.take_warm_up : series.take);
      if (!taken) return;
      rule.add(taken->first.deciding_ns, taken->first.clock_mhz, taken->second);
      series.warm_up.push_back(std::move(taken->first));
    }
    series.steady = rule.steady();
  }

  void sample(std::size_t index) {
    auto taken = take(index, series_[index]->take);
    if (!taken) return;
    auto& [sample, cost] = *taken;
    rules_[index].spend(cost);
    if (sample.tag.empty()) rules_[index].add(sample.deciding_ns, sample.other_ns);
    series_[index]->samples.push_back(std::move(sample));
    series_[index]->stop = rules_[index].state();
  }

  const std::vector<Series*>& series_;
  const RoundsOptions& options_;
  std::function<double()> now_;
  std::vector<StoppingRule> rules_;
};

}  // namespace

std::int64_t Series::num_kept() const {
  return std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.tag.empty(); });
}

void run_rounds(const std::vector<Series*>& series, const RoundsOptions& options) {
  Rounds(series, options).run();
}

}  // namespace branchmark
