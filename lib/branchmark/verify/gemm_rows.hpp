// The check `gemm_rows`: with the handles `fixed` and `class`, a row of a product does not depend on the
// number of rows in the call, on its place or on its neighbours. Everything that shares prefixes stands on
// this, and no library documents it, so it is proven on each device for the very shapes and row counts that a
// run uses.
//
// Per shape and handle, calls of every row count, at several row offsets of one reference input and over
// NaN-filled outputs, are compared byte by byte with one fixed call of the most rows. `class` is compared
// with the bytes of `fixed`, and so is every member of its table. Each case carries its negative control: the
// same comparison of the good output with one bit of one row flipped must report that row, and that row only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "branchmark/device/gemm.hpp"
#include "branchmark/model/config.hpp"
#include "branchmark/verify/case.hpp"
#include "branchmark/verify/context_source.hpp"

namespace branchmark {

struct ProjectionShape {
  // "gdn_input", "gdn_output", "attention_input", "attention_output", "gate_up", "down".
  std::string projection;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

// The projections of the models, one of each (n, k): its name is that of the first projection that has it.
std::vector<ProjectionShape> projection_shapes(std::span<const ModelConfig> configs);

struct GemmRowsOptions {
  // Row counts to compare; `extra_rows` are those of the scenario's plan.
  std::vector<std::int64_t> rows = {1, 2, 3, 8, 17, 33, 63, 64, 65, 128, 257, 1000, 1024, 3109, 4096};
  std::vector<std::int64_t> extra_rows;
  // The reference call has as many rows as the largest count, and no fewer than this.
  std::int64_t least_reference_rows = 4096;
  std::uint64_t seed = 1;
  // Where the module keeps class tables; proven anew and rewritten. Empty: nowhere.
  std::filesystem::path cache_file;
};

// The six row counts of --level quick.
GemmRowsOptions quick_gemm_rows();
// Without row counts above `most`, and with a reference of at least `most` rows: for modules on a CPU.
GemmRowsOptions capped(GemmRowsOptions options, std::int64_t most);

// Two cases a shape, gemm=fixed and gemm=class. Witness counters: rows_compared, members_checked (class),
// controls_caught. Metrics of the cases with gemm=fixed, never a reason to fail: default_rows_differing of
// default_rows_compared and, where a split-K algorithm is offered, split_k_rows_differing of
// split_k_rows_compared (such an algorithm may lack row counts).
std::vector<Case> gemm_rows_cases(ContextSource context, std::span<const ProjectionShape> shapes,
                                  const GemmRowsOptions& options = {});

}  // namespace branchmark
