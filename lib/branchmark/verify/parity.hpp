// `parity`, and the check `reference`: two ways of computing the same prompts, layer by layer. Each side is
// an entry point with a GEMM handle, packing, graphs, numerics, a kernel module and a device; or the right
// one is a recorded reference. The first divergence is named.
#pragma once

#include <vector>

#include "branchmark/verify/session.hpp"

namespace branchmark {

// One case a request, or a reference case. The scenario has a `parity` block.
std::vector<Case> parity_cases(const std::shared_ptr<Session>& session);

// The check `reference`: `forward` of the scenario's model against its reference file.
std::vector<Case> reference_cases(const std::shared_ptr<Session>& session);

}  // namespace branchmark
