#include "branchmark/bench/workload.hpp"

#include <fmt/format.h>

#include <cstring>

#include "branchmark/base/distance.hpp"
#include "branchmark/base/random.hpp"

namespace branchmark {
namespace {

// The first `count` of a stream of random tokens: prompts of several lengths share what they have in common.
Tokens random_tokens(const Session& session, const std::string& name, std::int64_t count) {
  Random random(prompt_seed(session.scenario()), name);
  Tokens tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(session.config().vocabulary)));
  return tokens;
}

PrefixTree make_tree(const Session& session, const PromptsShape& shape) {
  PromptGroup group;
  for (std::int64_t b = 0; b < shape.branches; ++b)
    group.branches.push_back(random_tokens(session, fmt::format("bench/branch {}", b), shape.branch_tokens));
  auto tree = PrefixTree::from_groups(random_tokens(session, "bench/prefix", shape.prefix_tokens),
                                      {std::move(group)});
  validate(tree, {session.config().vocabulary, session.config().max_positions});
  return tree;
}

}  // namespace

bool same_bits(const HiddenRows& a, const HiddenRows& b) {
  return a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0;
}

std::string_view name_of(Way way) {
  switch (way) {
    case Way::forward:
      return "forward";
    case Way::forward_fixed:
      return "forward_fixed";
    case Way::packed:
      return "packed";
    case Way::per_branch:
      return "per_branch";
  }
  return "forward";
}

std::uint64_t prompt_seed(const Scenario& scenario) {
  return scenario.prompts ? scenario.prompts->seed : scenario.model.seed;
}

Workload::Workload(std::shared_ptr<Session> session, WorkloadSpec spec)
    : session_(std::move(session)),
      spec_(spec),
      tree_(make_tree(*session_, spec.shape)),
      prompts_(full_prompts(tree_)) {}

Model* Workload::model() const {
  return spec_.graph == GraphMode::on ? session_->graph_model() : &session_->model();
}

std::optional<ExecutionPlan> Workload::plan() const {
  if (spec_.way != Way::packed && spec_.way != Way::per_branch) return std::nullopt;
  PlanOptions options;
  options.packing = spec_.way == Way::packed ? Packing::packed : Packing::per_branch;
  options.state_cost = model()->state_cost();
  return plan_execution(tree_, options);
}

std::vector<HiddenRows> Workload::call(PassHook* hook, PassObserver* observer) const {
  auto& model = *this->model();
  const auto& prompt = prompts_.front().prompt;
  switch (spec_.way) {
    case Way::forward:
      return {model.forward(prompt, {.all_rows = false, .observer = observer, .hook = hook})};
    case Way::forward_fixed:
      return {
          model.forward_fixed(prompt, spec_.gemm, {.all_rows = false, .observer = observer, .hook = hook})};
    case Way::packed:
    case Way::per_branch:
      break;
  }
  return model.forward_shared(tree_,
                              {.gemm = spec_.gemm,
                               .packing = spec_.way == Way::packed ? Packing::packed : Packing::per_branch,
                               .max_state_bytes = 0,
                               .observer = observer,
                               .hook = hook});
}

void Workload::release_memory() const {
  session_->model().release_memory();
  if (auto* graphs = session_->graph_model()) graphs->release_memory();
}

Work Workload::work() const {
  const auto shared = plan();
  return work_of(session_->config(), shared ? passes_of(*shared) : one_pass(shape().prompt_tokens()),
                 size_of(model()->profile().activation()));
}

ParityResult Workload::parity(const std::vector<HiddenRows>& answers) const {
  ParityResult result;
  std::vector<float> found, wanted;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& fixed = session_->fixed(prompts_[i].prompt, GemmKind::fixed);
    if (!same_bits(answers[i], fixed)) ++result.num_different;
    found.insert(found.end(), answers[i].values.begin(), answers[i].values.end());
    wanted.insert(wanted.end(), fixed.values.begin(), fixed.values.end());
  }
  result.equal = result.num_different == 0;
  result.relative_l2 = relative_l2(found, wanted);
  return result;
}

}  // namespace branchmark
