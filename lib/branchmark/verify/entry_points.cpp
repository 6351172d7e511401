#include "branchmark/verify/entry_points.hpp"

#include <fmt/format.h>

#include <string_view>

namespace branchmark {
namespace {

constexpr CallOptions kAllRows{.all_rows = true};

template <class One>
std::vector<HiddenRows> each_prompt(const Request& request, const One& one) {
  std::vector<HiddenRows> rows;
  for (const auto& full : request.prompts) rows.push_back(one(full.prompt));
  return rows;
}

std::vector<HiddenRows> as_batch(Model& model, const Request& request) {
  std::vector<Prompt> prompts;
  for (const auto& full : request.prompts) prompts.push_back(full.prompt);
  return model.forward_batch(prompts, GemmKind::default_choice, kAllRows);
}

// Two windows that meet at the last multiple of 64 below the prompt's end; one where there is none.
HiddenRows in_windows(Model& model, const Prompt& prompt) {
  const auto length = static_cast<std::int64_t>(prompt.tokens.size());
  const auto cut = (length - 1) / BMK_CHUNK_TOKENS * BMK_CHUNK_TOKENS;
  WindowRequest request{.prompt = &prompt,
                        .from = 0,
                        .to = cut > 0 ? cut : length,
                        .prefix = nullptr,
                        .capture_at = cut,
                        .gemm = GemmKind::fixed};
  auto first = model.forward_window(request, kAllRows);
  if (cut == 0) return std::move(first.rows);
  request.from = cut;
  request.to = length;
  request.prefix = first.captured;
  request.capture_at = 0;
  const auto second = model.forward_window(request, kAllRows);
  auto rows = std::move(first.rows);
  rows.values.insert(rows.values.end(), second.rows.values.begin(), second.rows.values.end());
  return rows;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool names_what_it_found(std::string_view message, const EntryPoint& entry_point, const Profile& profile) {
  return message.starts_with(entry_point.name + ":") &&
         holds(message, "unmerged LoRA adapter") == profile.unmerged_adapter &&
         holds(message, "numerics reference") == profile.reference_numerics &&
         holds(message, "gdn fp32") == profile.gdn_fp32;
}

}  // namespace

const std::vector<EntryPoint>& entry_points() {
  static const std::vector<EntryPoint> table = {
      {.name = "forward",
       .admits_every_profile = true,
       .call =
           [](Model& model, const Request& request) {
             return each_prompt(request,
                                [&](const Prompt& prompt) { return model.forward(prompt, kAllRows); });
           }},
      {.name = "forward_batch", .admits_every_profile = true, .call = as_batch},
      {.name = "forward_fixed",
       .call =
           [](Model& model, const Request& request) {
             return each_prompt(request, [&](const Prompt& prompt) {
               return model.forward_fixed(prompt, GemmKind::fixed, kAllRows);
             });
           }},
      {.name = "forward_shared",
       .call = [](Model& model, const Request& request) { return model.forward_shared(request.tree); }},
      {.name = "forward_window",
       .call =
           [](Model& model, const Request& request) {
             return each_prompt(request, [&](const Prompt& prompt) { return in_windows(model, prompt); });
           }},
  };
  return table;
}

Attempt attempt(const EntryPoint& entry_point, Model& model, const Request& request) {
  const auto before = model.context().counters();
  Attempt found;
  try {
    found.rows = entry_point.call(model, request);
  } catch (const Error& error) {
    found.error = error;
  }
  const auto& after = model.context().counters();
  found.module_calls = after.calls - before.calls;
  found.allocations = after.allocations - before.allocations;
  found.buffers_left = after.live_buffers - before.live_buffers;
  return found;
}

std::string fault_of_refusal(const Attempt& attempt, const EntryPoint& entry_point, const Profile& profile) {
  if (!attempt.error) return "was admitted";
  const std::string message = attempt.error->what();
  if (!attempt.refused() || !names_what_it_found(message, entry_point, profile))
    return fmt::format("ended with \"{}\"", message);
  if (attempt.module_calls != 0)
    return fmt::format("made {} module calls before it was refused", attempt.module_calls);
  if (attempt.allocations != 0 || attempt.buffers_left != 0)
    return fmt::format("made {} allocations and left {} buffers, yet no module call was counted",
                       attempt.allocations, attempt.buffers_left);
  return "";
}

}  // namespace branchmark
