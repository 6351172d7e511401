#include "branchmark/verify/parity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "branchmark/base/distance.hpp"
#include "branchmark/verify/checks/checks.hpp"
#include "branchmark/verify/difference.hpp"
#include "branchmark/verify/reference_file.hpp"

namespace branchmark {
namespace {

// What one prompt gave: the stream entering each layer, then the rows after the final norm.
struct PromptStreams {
  std::vector<std::vector<float>> streams;  // one a layer, as far as they are known
  std::vector<float> last_hidden;
};

// The model that a side runs on; the run's own where nothing else is asked for.
class SideModel {
 public:
  SideModel(Session& session, const ParitySide& side) : side_(side) {
    auto options = session.model_options();
    if (side.numerics) options.reference_numerics = *side.numerics == Numerics::reference;
    options.graphs = side.graph == GraphMode::on;
    auto context = session.context();
    auto weights = session.weights();
    if (side.kernels || side.device) {
      context = session.open_beside(side.kernels, side.device);
      weights = session.load_weights_on(context);
    }
    model_ =
        std::make_unique<Model>(std::move(context), session.config(), std::move(weights), std::move(options));
  }

  Model& model() { return *model_; }
  const ParitySide& side() const { return side_; }
  SharedOptions shared_options() const { return {.gemm = side_.gemm, .packing = side_.packing}; }

  // One prompt of a request, with an observer.
  TracedSide traced(const PrefixTree& tree, const std::vector<FullPrompt>& prompts, std::size_t index) {
    auto traced = select(tree, prompts, index);
    traced.name =
        fmt::format("{} ({}, {})", name_of(side_.entry), name_of(side_.gemm), model_->context().table().name);
    return traced;
  }

 private:
  TracedSide select(const PrefixTree& tree, const std::vector<FullPrompt>& prompts, std::size_t index) {
    const auto& prompt = prompts[index].prompt;
    switch (side_.entry) {
      case Entry::forward_fixed:
        return traced_fixed(*model_, prompt, side_.gemm);
      case Entry::forward_shared:
        return traced_shared(*model_, tree, shared_options(), static_cast<std::int64_t>(index));
      case Entry::forward_batch: {
        std::vector<Prompt> batch;
        for (const auto& each : prompts) batch.push_back(each.prompt);
        return traced_batch(*model_, std::move(batch), side_.gemm, static_cast<std::int64_t>(index));
      }
      case Entry::forward:
        break;
    }
    auto& model = *model_;
    return {"", [&model, prompt](PassObserver& observer) {
              static_cast<void>(model.forward(prompt, {.all_rows = false, .observer = &observer}));
              return RunChain{0};
            }};
  }

  ParitySide side_;
  std::unique_ptr<Model> model_;
};

// All rows of a prompt at a place, gathered over the runs that cover it.
std::vector<float> gather(const Trace& trace, const Trace::Place& place, const RunChain& runs) {
  std::vector<float> rows;
  for (const auto run : runs)
    if (const auto* part = trace.rows(place, run); part != nullptr)
      rows.insert(rows.end(), part->values.begin(), part->values.end());
  return rows;
}

PromptStreams streams_of(const TracedSide& side, std::int64_t num_layers) {
  auto trace = Trace::of_streams();
  const auto runs = side.run(trace);
  PromptStreams found;
  for (std::int64_t layer = 0; layer < num_layers; ++layer)
    found.streams.push_back(gather(trace, {layer, "layer_input"}, runs));
  found.last_hidden = gather(trace, {num_layers, "final_norm"}, runs);
  return found;
}

// Sums over prompts, so that one distance stands for all rows of a case.
void append(PromptStreams& all, const PromptStreams& more) {
  all.streams.resize(std::max(all.streams.size(), more.streams.size()));
  for (std::size_t i = 0; i < more.streams.size(); ++i)
    all.streams[i].insert(all.streams[i].end(), more.streams[i].begin(), more.streams[i].end());
  all.last_hidden.insert(all.last_hidden.end(), more.last_hidden.begin(), more.last_hidden.end());
}

void compare(CaseRecord& record, const PromptStreams& left, const PromptStreams& right, double bound,
             std::int64_t hidden) {
  const auto planned = static_cast<std::int64_t>(right.last_hidden.size()) / hidden;
  const auto found = static_cast<std::int64_t>(left.last_hidden.size()) / hidden;
  witness(record, "rows_compared", planned, found);
  if (planned != found) return;
  std::string first_beyond;
  for (std::size_t i = 0; i < std::min(left.streams.size(), right.streams.size()); ++i) {
    const auto distance = relative_l2(left.streams[i], right.streams[i]);
    record.add_metric(fmt::format("relative_l2_stream_{}", i), "1", Better::lower, distance);
    if (!(distance <= bound) && first_beyond.empty())
      first_beyond = fmt::format("; the first stream beyond it enters layer {} ({:.3e})", i, distance);
  }
  const auto distance = relative_l2(left.last_hidden, right.last_hidden);
  record.add_metric("relative_l2", "1", Better::lower, distance);
  record.add_metric("max_ulp_bf16", "ulp", Better::lower,
                    static_cast<double>(max_ulp_bf16(left.last_hidden, right.last_hidden)));
  record.add_metric("bound", "1", Better::none, bound);
  if (!(distance <= bound))
    record.findings.push_back(
        {.id = "distance_exceeded",
         .severity = Severity::error,
         .message = fmt::format("relative L2 {:.3e} over {} rows, the bound is {:.3e}{}", distance, planned,
                                bound, first_beyond),
         .suggestion = "look at relative_l2_stream_* for the layer where the distance grows"});
}

// A prompt as a tree: what lies before its last multiple of 64 is the prefix, so that forward_shared
// continues from a state wherever the prompt is long enough.
PrefixTree split_tree(const Prompt& prompt) {
  const auto length = static_cast<std::int64_t>(prompt.tokens.size());
  const auto cut = (length - 1) / BMK_CHUNK_TOKENS * BMK_CHUNK_TOKENS;
  const auto head = slice(prompt, 0, cut);
  const auto tail = slice(prompt, cut, length);
  PrefixTree tree;
  tree.root.name = "request";
  tree.root.tokens = head.tokens;
  tree.root.positions = head.positions;
  PrefixNode branch;
  branch.name = "branch 0";
  branch.tokens = tail.tokens;
  branch.positions = tail.positions;
  branch.ends_prompt = true;
  tree.root.children.push_back(std::move(branch));
  return tree;
}

// The models of both sides, made by the first case and kept for the others.
struct Sides {
  std::unique_ptr<SideModel> left;
  std::unique_ptr<SideModel> right;
};

SideModel& made(std::unique_ptr<SideModel>& side, Session& session, const ParitySide& wanted) {
  if (side == nullptr) side = std::make_unique<SideModel>(session, wanted);
  return *side;
}

void run_reference(CaseRecord& record, Session& session, const ParitySide& left, const std::string& name,
                   double bound, Sides& sides) {
  const auto& config = session.config();
  const ReferenceFile file(session.scenario().reference->file.resolved);
  const auto reference = file.read(name, config.hidden, config.num_layers());
  const PrefixTree tree = split_tree(reference.prompt);
  validate(tree, {config.vocabulary, config.max_positions});
  const std::vector<FullPrompt> prompts = {{"request/branch 0", reference.prompt}};
  compare(record, streams_of(made(sides.left, session, left).traced(tree, prompts, 0), config.num_layers()),
          {reference.streams, reference.last_hidden}, bound, config.hidden);
  settle(record);
}

void run_pair(CaseRecord& record, Session& session, const Request& request, const ScenarioParity& parity,
              Sides& sides) {
  const auto num_layers = session.config().num_layers();
  const double bound = parity.max_relative_l2.value_or(0);
  auto& left = made(sides.left, session, parity.left);
  auto& right = made(sides.right, session, *parity.right);
  PromptStreams left_rows, right_rows;
  for (std::size_t i = 0; i < request.prompts.size(); ++i) {
    const auto left_side = left.traced(request.tree, request.prompts, i);
    const auto right_side = right.traced(request.tree, request.prompts, i);
    const auto one = streams_of(left_side, num_layers);
    const auto other = streams_of(right_side, num_layers);
    if (bound == 0 && record.findings.empty() && one.last_hidden != other.last_hidden)
      record.findings.push_back(explain_difference(request.prompts[i].path, left_side, right_side,
                                                   session.command_for(record.key())));
    append(left_rows, one);
    append(right_rows, other);
  }
  compare(record, left_rows, right_rows, bound, session.config().hidden);
  settle(record);
}

std::vector<Case> against_reference(const std::shared_ptr<Session>& session, const std::string& check,
                                    const ParitySide& left) {
  std::vector<Case> cases;
  const auto sides = std::make_shared<Sides>();
  const auto& scenario = session->scenario();
  const ReferenceFile file(scenario.reference->file.resolved);
  for (const auto& name : file.cases()) {
    const auto bound = reference_bound(scenario, name);
    if (!bound)
      throw Error(ErrorCode::usage, fmt::format("/reference/max_relative_l2: no bound for case \"{}\" of {}",
                                                name, scenario.reference->file.written));
    cases.push_back(
        {.check = check,
         .parameters = {{"case", name}, {"entry", name_of(left.entry)}, {"gemm", name_of(left.gemm)}},
         .skip_reason = "",
         .run = [session, sides, left, name, bound = *bound](CaseRecord& record) {
           run_reference(record, *session, left, name, bound, *sides);
         }});
  }
  return cases;
}

}  // namespace

std::vector<Case> reference_cases(const std::shared_ptr<Session>& session) {
  return against_reference(session, "reference", {});
}

std::vector<Case> parity_cases(const std::shared_ptr<Session>& session) {
  const auto& scenario = session->scenario();
  const auto& parity = *scenario.parity;
  if (!parity.right) return against_reference(session, "parity", parity.left);
  std::vector<Case> cases;
  const auto sides = std::make_shared<Sides>();
  for (std::size_t r = 0; r < session->requests().size(); ++r)
    cases.push_back(
        {.check = "parity",
         .parameters = with(session->requests()[r].parameters,
                            {{"left", name_of(parity.left.entry)}, {"right", name_of(parity.right->entry)}}),
         .skip_reason = "",
         .run = [session, sides, r](CaseRecord& record) {
           run_pair(record, *session, session->requests()[r], *session->scenario().parity, *sides);
         }});
  return cases;
}

}  // namespace branchmark
