// Continuing from a captured state equals one pass: for each cut at a multiple of 64 and each branch length,
// every row of the continued window has the bits of forward_fixed over the whole prompt. The state is
// captured in one window and, from the second cut on, also by a window that is itself a continuation.
//
// Control: continuing from the state of a prefix that differs in one token must give other bits.

#include <fmt/format.h>

#include <algorithm>

#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/difference.hpp"

namespace branchmark {
namespace {

constexpr std::int64_t kGrid = BMK_CHUNK_TOKENS;
constexpr std::int64_t kBranchLengths[] = {1, 2, 3, 4, 5, 31, 63, 64, 65, 130, 200};
constexpr std::int64_t kLongestBranch = 200;

std::shared_ptr<const PrefixState> capture(Model& model, const Prompt& prompt, std::int64_t from,
                                           std::int64_t at, std::shared_ptr<const PrefixState> prefix,
                                           GemmKind gemm) {
  return model
      .forward_window({.prompt = &prompt,
                       .from = from,
                       .to = at,
                       .prefix = std::move(prefix),
                       .capture_at = at,
                       .gemm = gemm})
      .captured;
}

// The rows [from, to) of a window, compared with the same rows of the whole pass.
void compare_window(CaseRecord& record, Session& session, const Prompt& prompt, const HiddenRows& whole,
                    const std::shared_ptr<const PrefixState>& state, std::int64_t cut, std::int64_t length,
                    GemmKind gemm) {
  auto& model = session.model();
  const WindowRequest request{
      .prompt = &prompt, .from = cut, .to = cut + length, .prefix = state, .capture_at = 0, .gemm = gemm};
  const auto window = model.forward_window(request, {.all_rows = true, .observer = nullptr});
  const auto begin = whole.values.begin() + cut * whole.columns;
  auto& rows = record.witness["rows_compared"];
  rows.planned += length;
  rows.found += window.rows.num_rows();
  const HiddenRows expected{whole.columns, whole.activation, {begin, begin + length * whole.columns}};
  if (window.rows.digest() == expected.digest()) return;
  const TracedSide continued{
      "forward_window", [&](PassObserver& observer) {
        static_cast<void>(model.forward_window(request, {.all_rows = true, .observer = &observer}));
        return RunChain{0};
      }};
  record.findings.push_back(explain_difference(fmt::format("cut {}, branch of {} tokens", cut, length),
                                               continued, traced_fixed(model, prompt, gemm),
                                               session.command_for(record.key())));
}

void run_cut(CaseRecord& record, Session& session, std::int64_t cut, GemmKind gemm) {
  auto& model = session.model();
  const auto prompt = session.random_prompt("continuation", cut + kLongestBranch);
  const auto whole = model.forward_fixed(prompt, gemm, {.all_rows = true, .observer = nullptr});
  const auto before = model.statistics();
  const auto direct = capture(model, prompt, 0, cut, nullptr, gemm);
  std::int64_t captured = 1;
  std::int64_t resumed = 0;
  std::vector<std::shared_ptr<const PrefixState>> states = {direct};
  if (cut > kGrid) {
    const auto half = cut / 2 / kGrid * kGrid;
    states.push_back(capture(model, prompt, half, cut, capture(model, prompt, 0, half, nullptr, gemm), gemm));
    captured += 2;
    resumed += 1;
  }
  for (const auto& state : states)
    for (const auto length : kBranchLengths) {
      compare_window(record, session, prompt, whole, state, cut, length, gemm);
      ++resumed;
      if (!record.findings.empty()) break;
    }
  if (record.findings.empty()) {
    const auto now = model.statistics();
    witness(record, "states_captured", captured, now.states_captured - before.states_captured);
    witness(record, "states_resumed", resumed, now.states_resumed - before.states_resumed);
  }

  auto foreign = prompt;
  auto& token = foreign.tokens[static_cast<std::size_t>(cut - 1)];
  token = static_cast<std::int32_t>((token + 1) % session.config().vocabulary);
  const auto state = capture(model, foreign, 0, cut, nullptr, gemm);
  const auto last = cut + kLongestBranch;
  const auto control = model.forward_window(
      {.prompt = &prompt, .from = cut, .to = last, .prefix = state, .capture_at = 0, .gemm = gemm});
  const HiddenRows expected{
      whole.columns, whole.activation, {whole.values.end() - whole.columns, whole.values.end()}};
  witness(record, "controls_caught", 1, control.rows.digest() != expected.digest() ? 1 : 0);
  settle(record);
}

}  // namespace

std::vector<Case> continuation_cases(const SessionPointer& session) {
  std::vector<std::int64_t> cuts = {64, 128, 192, 320};
  if (session->level() == Level::quick) cuts = {64, 192};
  if (session->level() == Level::full) cuts.insert(cuts.end(), {512, 1024, 2048});
  std::vector<Case> cases;
  for (const auto cut : cuts)
    for (const auto gemm : session->scenario().execution.gemm)
      cases.push_back(
          {.check = "continuation",
           .parameters = {{"cut", cut}, {"gemm", name_of(gemm)}},
           .skip_reason = "",
           .run = [session, cut, gemm](CaseRecord& record) { run_cut(record, *session, cut, gemm); }});
  return cases;
}

}  // namespace branchmark
