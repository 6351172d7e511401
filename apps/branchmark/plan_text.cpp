#include "plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace branchmark::app {
namespace {

constexpr const char* kNoRates = "nothing was measured: name a report of bench with --rates";

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1 << 30) return fmt::format("{:.2f} GiB", value / (1 << 30));
  if (value >= 1 << 20) return fmt::format("{:.1f} MiB", value / (1 << 20));
  return fmt::format("{} B", bytes);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f}%",
                     whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string label_of(const RequestPlan& request, const PlanText& plan) {
  if (request.parameters.empty()) return plan.source;
  const auto key = case_key("", request.parameters);
  return key.substr(1);
}

std::int64_t device_bytes(const RequestPlan& request, const PlanText& plan) {
  return plan.weight_bytes + request.state_bytes + request.scratch_bytes;
}

// The prefixes that save most, and how many more there are.
std::string prefixes_text(const RequestPlan& request) {
  constexpr std::size_t kMaxShown = 8;
  auto prefixes = request.shared_prefixes;
  std::erase_if(prefixes, [](const SharedPrefix& prefix) { return prefix.captured_tokens == 0; });
  std::stable_sort(prefixes.begin(), prefixes.end(), [](const SharedPrefix& a, const SharedPrefix& b) {
    return a.captured_tokens * (a.prompts - 1) > b.captured_tokens * (b.prompts - 1);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(prefixes.size(), kMaxShown); ++i)
    text += fmt::format("    {:>8} tokens, {} of them run once for {} prompts: {}\n", prefixes[i].tokens,
                        prefixes[i].captured_tokens, prefixes[i].prompts, prefixes[i].path);
  if (prefixes.size() > kMaxShown)
    text += fmt::format("    and {} more shared prefixes\n", prefixes.size() - kMaxShown);
  return text;
}

std::string one_request(const RequestPlan& request, const PlanText& plan) {
  auto text = fmt::format("{}\n", label_of(request, plan));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<16} {}\n", name, value);
  };
  row("prompts", std::to_string(request.num_prompts));
  row("tokens asked", std::to_string(request.tokens_asked));
  row("tokens run", std::to_string(request.tokens_run));
  row("tokens saved", fmt::format("{} ({})", request.tokens_saved(),
                                  share_text(request.tokens_saved(), request.tokens_asked)));
  row("passes", fmt::format("{}, of at most {} rows, in {} levels", request.num_passes, request.max_pass_rows,
                            request.num_levels));
  row("states",
      fmt::format("{} captured, {} runs continue from one", request.states_captured, request.states_resumed));
  row("state memory", bytes_text(request.state_bytes));
  row("scratch memory", bytes_text(request.scratch_bytes));
  row("with weights", bytes_text(device_bytes(request, plan)) + " and what ops and driver need beside");
  if (request.shared_ns && request.alone_ns)
    row("time", fmt::format("{:.3g} ms, each prompt alone {:.3g} ms", *request.shared_ns / 1e6,
                            *request.alone_ns / 1e6));
  return text + prefixes_text(request);
}

std::string table_of(const PlanText& plan) {
  auto text =
      fmt::format("{:>8} {:>10} {:>10} {:>7} {:>6} {:>6} {:>11} {:>11}{}  {}\n", "prompts", "asked", "run",
                  "saved", "passes", "states", "state mem.", "scratch",
                  plan.rates_basis ? fmt::format(" {:>10} {:>10}", "shared ms", "alone ms") : "", "request");
  for (const auto& request : plan.requests)
    text += fmt::format(
        "{:>8} {:>10} {:>10} {:>7} {:>6} {:>6} {:>11} {:>11}{}  {}\n", request.num_prompts,
        request.tokens_asked, request.tokens_run, share_text(request.tokens_saved(), request.tokens_asked),
        request.num_passes, request.states_captured, bytes_text(request.state_bytes),
        bytes_text(request.scratch_bytes),
        request.shared_ns
            ? fmt::format(" {:>10.3g} {:>10.3g}", *request.shared_ns / 1e6, *request.alone_ns / 1e6)
            : "",
        label_of(request, plan));
  return text;
}

Json request_json(const RequestPlan& request, const PlanText& plan) {
  Json json = {{"params", Json::object()},
               {"prompts", request.num_prompts},
               {"tokens_asked", request.tokens_asked},
               {"tokens_run", request.tokens_run},
               {"tokens_saved", request.tokens_saved()},
               {"passes", request.num_passes},
               {"runs", request.num_runs},
               {"levels", request.num_levels},
               {"states_captured", request.states_captured},
               {"states_resumed", request.states_resumed},
               {"max_pass_rows", request.max_pass_rows},
               {"state_bytes", request.state_bytes},
               {"scratch_bytes", request.scratch_bytes},
               {"device_bytes", device_bytes(request, plan)},
               {"shared_prefixes", Json::array()},
               {"shared_ns", nullptr},
               {"alone_ns", nullptr}};
  for (const auto& [name, value] : request.parameters) json["params"][name] = value;
  for (const auto& prefix : request.shared_prefixes)
    json["shared_prefixes"].push_back({{"path", prefix.path},
                                       {"tokens", prefix.tokens},
                                       {"captured_tokens", prefix.captured_tokens},
                                       {"prompts", prefix.prompts}});
  if (request.shared_ns) json["shared_ns"] = *request.shared_ns;
  if (request.alone_ns) json["alone_ns"] = *request.alone_ns;
  if (!request.shared_ns) json["null_reasons"] = {{"shared_ns", kNoRates}, {"alone_ns", kNoRates}};
  return json;
}

}  // namespace

std::string plan_table(const PlanText& plan) {
  auto text = fmt::format("model {}{}, weights {}, packing {}\n", plan.model,
                          plan.model_note.empty() ? "" : " (" + plan.model_note + ")",
                          bytes_text(plan.weight_bytes), plan.packing);
  text += plan.rates_basis ? fmt::format("times: {}\n\n", *plan.rates_basis)
                           : fmt::format("times: none; {}\n\n", kNoRates);
  return text + (plan.requests.size() == 1 ? one_request(plan.requests.front(), plan) : table_of(plan));
}

std::string plan_json(const PlanText& plan) {
  Json json = {{"schema", {{"name", "branchmark-plan"}, {"version", "1.0"}}},
               {"source", plan.source},
               {"packing", plan.packing},
               {"model", {{"name", plan.model}, {"weight_bytes", plan.weight_bytes}}},
               {"requests", Json::array()},
               {"rates", nullptr}};
  for (const auto& request : plan.requests) json["requests"].push_back(request_json(request, plan));
  if (plan.rates_basis)
    json["rates"] = *plan.rates_basis;
  else
    json["null_reasons"] = {{"rates", kNoRates}};
  return json_text(json) + "\n";
}

std::string plan_verdict(const PlanText& plan) {
  std::int64_t asked = 0;
  std::int64_t saved = 0;
  for (const auto& request : plan.requests) {
    asked += request.tokens_asked;
    saved += request.tokens_saved();
  }
  if (saved == 0) return fmt::format("nothing is shared: all {} tokens run", asked);
  return fmt::format("{} of {} tokens saved ({})", saved, asked, share_text(saved, asked));
}

}  // namespace branchmark::app
