#include "branchmark/verify/gemm_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "branchmark/verify/gemm_rows_rig.hpp"

namespace branchmark {
namespace {

constexpr std::size_t kMostFindings = 4;

// One case: the rig, the handles and the record that it fills.
class GemmRowsCase {
 public:
  GemmRowsCase(std::shared_ptr<Context> context, const ProjectionShape& shape, GemmKind kind,
               const GemmRowsOptions& options, CaseRecord& record)
      : context_(std::move(context)),
        subject_(fmt::format("{} with N={}, K={}", shape.projection, shape.n, shape.k)),
        kind_(kind),
        options_(options),
        record_(record),
        row_counts_(counts(options)),
        rig_(context_, shape, std::max(options.least_reference_rows, *row_counts_.rbegin()), options.seed) {}

  void run() {
    Gemm fixed = make(GemmKind::fixed);
    rig_.make_reference(run_of(fixed));
    check_control();
    if (kind_ == GemmKind::fixed) {
      require_same("fixed", run_of(fixed));
      measure_others(fixed);
    } else {
      Gemm members = make(GemmKind::fastest_of_class);
      require_same("class", run_of(members));
      check_members(members);
    }
    finish();
  }

 private:
  static std::set<std::int64_t> counts(const GemmRowsOptions& options) {
    std::set<std::int64_t> result(options.rows.begin(), options.rows.end());
    result.insert(options.extra_rows.begin(), options.extra_rows.end());
    return result;
  }

  Gemm make(GemmKind kind) const {
    Gemm gemm(context_, {.kind = kind, .trust_cache = false, .cache_file = options_.cache_file});
    std::vector<std::int64_t> rows(row_counts_.begin(), row_counts_.end());
    if (rows.back() != rig_.reference_rows()) rows.push_back(rig_.reference_rows());
    gemm.prepare(rig_.shape(), rows);
    return gemm;
  }

  static GemmRowsRig::Call run_of(Gemm& gemm) {
    return [&gemm](const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y) { gemm.run(x, w, y); };
  }
  static GemmRowsRig::Call run_of(Gemm& gemm, std::int64_t algorithm) {
    return [&gemm, algorithm](const bmk_matrix& x, const bmk_matrix& w, const bmk_matrix& y) {
      gemm.run_algorithm(x, w, y, algorithm);
    };
  }

  void fail(const char* id, const std::string& message, const char* suggestion) {
    ++failures_;
    if (record_.findings.size() < kMostFindings)
      record_.findings.push_back({id, Severity::error, subject_ + ": " + message, suggestion});
  }

  void judge(const std::string& what, const RowDifferences& found, std::int64_t first, std::int64_t rows) {
    auto& compared = record_.witness["rows_compared"];
    compared.found += rows;
    if (!found.rows.empty())
      fail("bits_differ",
           fmt::format("{}, M={} at row {} of {}: {} rows differ from one call of fixed; {}", what, rows,
                       first, rig_.reference_rows(), found.rows.size(), rig_.first_difference()),
           "rows depend on the row count here: shared and unshared prompts can differ on this device");
    if (found.wrote_outside)
      fail("wrote_outside",
           fmt::format("{}, M={} at row {}: rows outside of the call changed", what, rows, first),
           "the kernel module writes past its output: do not use it");
  }

  void require_same(const std::string& what, const GemmRowsRig::Call& call) {
    for (const auto rows : row_counts_)
      record_.witness["rows_compared"].planned += rows * static_cast<std::int64_t>(rig_.offsets(rows).size());
    for (const auto rows : row_counts_)
      for (const auto first : rig_.offsets(rows)) judge(what, rig_.compare(call, first, rows), first, rows);
  }

  // The comparison must see one flipped bit, in the first, an inner and the last row.
  void check_control() {
    auto& caught = record_.witness["controls_caught"];
    const auto last = rig_.reference_rows() - 1;
    for (const auto row : std::set<std::int64_t>{0, last / 2, last}) {
      ++caught.planned;
      if (rig_.compare_flipped(row).rows == std::vector{row}) ++caught.found;
    }
  }

  // Every algorithm that the class may choose, at every row count; the offset changes from one to the next.
  void check_members(Gemm& gemm) {
    const auto shape = rig_.shape();
    const auto count = gemm.num_algorithms(shape);
    std::vector<std::pair<std::int64_t, bmk_gemm_algorithm>> members;
    for (std::int64_t index = 0; index < count; ++index)
      if (const auto algorithm = gemm.algorithm(shape, index); algorithm.in_class == 1)
        members.emplace_back(index, algorithm);
    auto& checked = record_.witness["members_checked"];
    // Algorithm 0, the fixed one, is a member.
    checked.planned = std::max<std::int64_t>(1, static_cast<std::int64_t>(members.size()));
    for (const auto rows : row_counts_)
      record_.witness["rows_compared"].planned += rows * static_cast<std::int64_t>(members.size());
    for (const auto& [index, algorithm] : members) {
      auto turn = static_cast<std::size_t>(index);
      for (const auto rows : row_counts_) {
        const auto offsets = rig_.offsets(rows);
        const auto first = *std::next(offsets.begin(), static_cast<std::ptrdiff_t>(turn++ % offsets.size()));
        // A member may lack a row count; the class then never chooses it there.
        const auto found = compare_if_served(run_of(gemm, index), first, rows);
        if (found)
          judge(fmt::format("class member {} ({})", index, static_cast<const char*>(algorithm.fingerprint)),
                *found, first, rows);
        else
          record_.witness["rows_compared"].planned -= rows;
      }
      ++checked.found;
    }
    for (const auto rows : row_counts_) {
      const auto chosen = gemm.chosen_algorithm(shape, rows);
      if (std::none_of(members.begin(), members.end(), [&](const auto& m) { return m.first == chosen; }))
        fail("not_a_member",
             fmt::format("class chooses algorithm {} at M={}, which is no member", chosen, rows),
             "the kernel module's table is wrong: do not use its class handle");
    }
  }

  // Nothing where the algorithm cannot serve the number of rows.
  std::optional<RowDifferences> compare_if_served(const GemmRowsRig::Call& call, std::int64_t first,
                                                  std::int64_t rows) {
    try {
      return rig_.compare(call, first, rows);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unserved_size) throw;
      return std::nullopt;
    }
  }

  // Adds NAME_rows_differing, of NAME_rows_compared.
  void measure(const std::string& name, const GemmRowsRig::Call& call) {
    std::int64_t differing = 0;
    std::int64_t compared = 0;
    for (const auto rows : row_counts_) {
      const auto found = compare_if_served(call, 0, rows);
      if (!found) continue;
      compared += rows;
      differing += static_cast<std::int64_t>(found->rows.size());
    }
    record_.add_metric(name + "_rows_differing", "rows", Better::none, static_cast<double>(differing));
    record_.add_metric(name + "_rows_compared", "rows", Better::none, static_cast<double>(compared));
  }

  // What is allowed to differ, for the reader to know: over the first rows of the reference, all row counts.
  void measure_others(Gemm& fixed) {
    Gemm free_choice = make(GemmKind::default_choice);
    measure("default", run_of(free_choice));
    const auto shape = rig_.shape();
    const auto count = fixed.num_algorithms(shape);
    for (std::int64_t index = 0; index < count; ++index) {
      if (fixed.algorithm(shape, index).split_k <= 1) continue;
      measure("split_k", run_of(fixed, index));
      return;
    }
  }

  void finish() {
    for (const auto& [name, counter] : record_.witness)
      if (counter.found < counter.planned)
        fail("witness_short", fmt::format("{} is {}, planned {}", name, counter.found, counter.planned),
             "the comparison itself did not run as planned: report this as a fault of the tool");
    record_.outcome = failures_ > 0 ? Outcome::fail : Outcome::pass;
  }

  std::shared_ptr<Context> context_;
  std::string subject_;
  GemmKind kind_;
  const GemmRowsOptions& options_;
  CaseRecord& record_;
  std::set<std::int64_t> row_counts_;
  GemmRowsRig rig_;
  std::int64_t failures_ = 0;
};

}  // namespace

std::vector<ProjectionShape> projection_shapes(std::span<const ModelConfig> configs) {
  std::vector<ProjectionShape> shapes;
  const auto add = [&](const char* projection, std::int64_t n, std::int64_t k) {
    if (std::none_of(shapes.begin(), shapes.end(), [&](const auto& s) { return s.n == n && s.k == k; }))
      shapes.push_back({projection, n, k});
  };
  for (const auto& config : configs) {
    if (config.num_layers(LayerKind::gdn) > 0) {
      add("gdn_input", config.gdn_input_width(), config.hidden);
      add("gdn_output", config.hidden, config.value_width());
    }
    if (config.num_layers(LayerKind::attention) > 0) {
      add("attention_input", config.attention_input_width(), config.hidden);
      add("attention_output", config.hidden, config.query_width());
    }
    add("gate_up", config.gate_up_width(), config.hidden);
    add("down", config.hidden, config.ffn);
  }
  return shapes;
}

GemmRowsOptions quick_gemm_rows() {
  GemmRowsOptions options;
  options.rows = {1, 17, 64, 257, 1000, 4096};
  return options;
}

GemmRowsOptions capped(GemmRowsOptions options, std::int64_t most) {
  std::erase_if(options.rows, [most](std::int64_t rows) { return rows > most; });
  options.least_reference_rows = most;
  return options;
}

std::vector<Case> gemm_rows_cases(ContextSource context, std::span<const ProjectionShape> shapes,
                                  const GemmRowsOptions& options) {
  std::vector<Case> cases;
  for (const auto& shape : shapes)
    for (const auto kind : {GemmKind::fixed, GemmKind::fastest_of_class}) {
      Case made;
      made.check = "gemm_rows";
      made.parameters = {
          {"projection", shape.projection}, {"n", shape.n}, {"k", shape.k}, {"gemm", name_of(kind)}};
      made.run = [context, shape, kind, options](CaseRecord& record) {
        GemmRowsCase(context(), shape, kind, options, record).run();
      };
      cases.push_back(std::move(made));
    }
  return cases;
}

}  // namespace branchmark
