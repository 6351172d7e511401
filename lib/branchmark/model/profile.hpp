// Execution profile: what the numerics of a model are, and which entry points admit it.
//
// Sharing is proven for one profile only: merged weights, default numerics. Every entry point that needs it
// calls require_shareable first, before any allocation or module call.
#pragma once

#include <string>
#include <string_view>

#include "branchmark/kernels.h"

namespace branchmark {

struct Profile {
  bool unmerged_adapter = false;
  bool reference_numerics = false;
  bool gdn_fp32 = false;

  bool shareable() const { return !unmerged_adapter && !reference_numerics && !gdn_fp32; }
  // Type of activations between ops.
  bmk_dtype activation() const { return reference_numerics ? BMK_F32 : BMK_BF16; }
  bmk_numerics numerics() const {
    return reference_numerics ? BMK_NUMERICS_REFERENCE
           : gdn_fp32         ? BMK_NUMERICS_GDN_FP32
                              : BMK_NUMERICS_DEFAULT;
  }
  // "default", or the deviations joined: "unmerged LoRA adapter, numerics reference".
  std::string describe() const;

  bool operator==(const Profile&) const = default;
};

// Throws refused, naming the entry point and each deviation found.
void require_shareable(const Profile& profile, std::string_view entry_point);

}  // namespace branchmark
