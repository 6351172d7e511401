// What differs between runs beside their cases: what forbids to compare them, and what a reader has to know.
#pragma once

#include <vector>

#include "branchmark/compare/side.hpp"

namespace branchmark {

// Refused: another command, model, workload or device model; several commits on one side; a side A whose
// commit is not known. Warned of: whatever else can change bits or speed. Settings that only say how long to
// sample do not make another workload.
std::vector<SideDifference> find_differences(const Side& a, const Side& b);

// The same within one side.
std::vector<SideDifference> find_differences(const Side& side);

// "driver: A 580.1, B 581.2 (...)".
std::string text_of(const SideDifference& difference);

// Throws usage where a difference is refused, naming every one.
void require_comparable(const std::vector<SideDifference>& differences);

}  // namespace branchmark
