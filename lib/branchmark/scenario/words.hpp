// The words of the scenario's enumerations, in the order of the enumerators.
#pragma once

#include <array>
#include <string_view>

namespace branchmark {

inline constexpr std::array<std::string_view, 2> kNumericsWords = {"default", "reference"};
inline constexpr std::array<std::string_view, 2> kGdnWords = {"default", "fp32"};
inline constexpr std::array<std::string_view, 2> kGraphWords = {"off", "on"};
inline constexpr std::array<std::string_view, 3> kGemmWords = {"default", "fixed", "class"};
inline constexpr std::array<std::string_view, 2> kPackingWords = {"packed", "per_branch"};
inline constexpr std::array<std::string_view, 4> kEntryWords = {"forward", "forward_batch", "forward_fixed",
                                                                "forward_shared"};

}  // namespace branchmark
