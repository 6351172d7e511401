#include "branchmark/bench/bench_cases.hpp"

#include <fmt/format.h>

#include "branchmark/base/error.hpp"
#include "branchmark/bench/bench_record.hpp"

namespace branchmark {
namespace {

using RunPointer = std::shared_ptr<BenchRun>;

class CaseList {
 public:
  CaseList(const std::shared_ptr<Session>& session, BenchOptions options)
      : run_(std::make_shared<BenchRun>(session, std::move(options))),
        bench_(*session->scenario().bench),
        execution_(session->scenario().execution),
        seed_(prompt_seed(session->scenario())) {}

  std::vector<Case> make() {
    ceilings();
    for (const auto tokens : bench_.single_tokens) single(tokens);
    if (bench_.shared)
      for (const auto prefix : bench_.shared->prefix_tokens)
        for (const auto branches : bench_.shared->branches)
          for (const auto branch_tokens : bench_.shared->branch_tokens)
            shared({prefix, branches, branch_tokens});
    return std::move(cases_);
  }

 private:
  void add(const std::string& block, std::string check, Parameters parameters,
           std::function<void(CaseRecord&)> run) {
    cases_.push_back({.check = std::move(check),
                      .parameters = std::move(parameters),
                      .skip_reason = "",
                      .run = std::move(run),
                      .planned_s = [run = run_, block] { return run->planned_s(block); }});
  }

  void ceilings() {
    for (const auto* kind : {"product", "copy"})
      for (std::size_t side = 0; side < run_->sides().size(); ++side)
        add("", "ceiling", run_->sides().on_side({{"kind", kind}}, side),
            [run = run_, side, product = std::string_view(kind) == "product"](CaseRecord& record) {
              record_ceiling(record, *run->sides().device(side), product);
            });
  }

  // A workload on each side, and with two of them what one is beside the other.
  void add_workload(const std::string& block, const std::string& check, const Parameters& parameters,
                    const WorkloadSpec& spec,
                    const std::function<void(CaseRecord&, BenchRun&, const BenchRun::Request&)>& write) {
    std::vector<std::shared_ptr<const BenchRun::Request>> requests;
    for (std::size_t side = 0; side < run_->sides().size(); ++side) {
      const auto& request = requests.emplace_back(run_->want(block, spec, side));
      add(block, check, run_->sides().on_side(parameters, side),
          [run = run_, request, write](CaseRecord& record) { write(record, *run, *request); });
    }
    if (requests.size() == 1) return;
    Parameters both{{"of", check}};
    both.insert(both.end(), parameters.begin(), parameters.end());
    add(block, "against", std::move(both), [run = run_, requests](CaseRecord& record) {
      record_pair(record, *run, *requests[0], *requests[1]);
    });
  }

  void single(std::int64_t tokens) {
    const auto add_way = [&](Way way, GemmKind gemm, GraphMode graph) {
      const WorkloadSpec spec{way, gemm, graph, {.prefix_tokens = 0, .branches = 1, .branch_tokens = tokens}};
      add_workload(fmt::format("single, {} tokens", tokens), "single",
                   {{"tokens", tokens},
                    {"entry", name_of(way)},
                    {"gemm", name_of(gemm)},
                    {"graph", name_of(graph)},
                    {"seed", seed_}},
                   spec, record_single);
    };
    for (const auto graph : execution_.graph) add_way(Way::forward, GemmKind::default_choice, graph);
    // Eager in every setting, so there is no second case with graphs on.
    for (const auto gemm : execution_.gemm) add_way(Way::forward_fixed, gemm, GraphMode::off);
  }

  void shared(const PromptsShape& shape) {
    const auto shared_block =
        fmt::format("shared, prefix {}, {} x {}", shape.prefix_tokens, shape.branches, shape.branch_tokens);
    // One prompt stands for any number of branches.
    const auto alone_block = fmt::format("alone, {} + {} tokens", shape.prefix_tokens, shape.branch_tokens);
    const auto add_way = [&](const std::string& block, const char* way, const WorkloadSpec& spec) {
      add_workload(block, "shared",
                   {{"prefix", shape.prefix_tokens},
                    {"branches", shape.branches},
                    {"branch_tokens", shape.branch_tokens},
                    {"way", way},
                    {"gemm", name_of(spec.gemm)},
                    {"seed", seed_}},
                   spec, [shape](CaseRecord& record, BenchRun& run, const BenchRun::Request& request) {
                     record_shared(record, run, request, shape);
                   });
    };
    constexpr auto kClass = GemmKind::fastest_of_class;
    auto one = shape;
    one.branches = 1;
    add_way(shared_block, "packed", {Way::packed, kClass, GraphMode::off, shape});
    add_way(shared_block, "per_branch", {Way::per_branch, kClass, GraphMode::off, shape});
    add_way(alone_block, "alone_forward", {Way::forward, GemmKind::default_choice, GraphMode::off, one});
    add_way(alone_block, "alone_fixed", {Way::forward_fixed, kClass, GraphMode::off, one});
  }

  RunPointer run_;
  const ScenarioBench& bench_;
  const ScenarioExecution& execution_;
  std::uint64_t seed_;
  std::vector<Case> cases_;
};

}  // namespace

void require_bench(const Session& session) {
  const auto& bench = session.scenario().bench;
  if (!bench)
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "{}: at /bench: missing, expected what is to be timed: an object with single_tokens, shared "
            "or both, as in bench-smoke",
            session.scenario().name));
  const auto limit = session.config().max_positions;
  const auto require = [&](const std::string& pointer, std::int64_t tokens) {
    if (tokens > limit)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: at {}: found a prompt of {} tokens, expected at most the {} of {}",
                              session.scenario().name, pointer, tokens, limit, session.config().name));
  };
  for (std::size_t i = 0; i < bench->single_tokens.size(); ++i)
    require(fmt::format("/bench/single_tokens/{}", i), bench->single_tokens[i]);
  if (!bench->shared) return;
  for (std::size_t i = 0; i < bench->shared->prefix_tokens.size(); ++i)
    for (const auto branch_tokens : bench->shared->branch_tokens)
      require(fmt::format("/bench/shared/prefix_tokens/{}", i),
              bench->shared->prefix_tokens[i] + branch_tokens);
}

std::vector<Case> bench_cases(const std::shared_ptr<Session>& session, BenchOptions options) {
  require_bench(*session);
  session->require_shareable_profile("bench, whose answers are compared with forward_fixed,");
  return CaseList(session, std::move(options)).make();
}

}  // namespace branchmark
