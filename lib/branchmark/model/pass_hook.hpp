// Told where a pass's work on the device begins and ends: the place for timing events. A hook sees no op, so
// that a recorded graph may be replayed under it; a call without one pays a comparison with null a pass.
#pragma once

#include "branchmark/device/context.hpp"

namespace branchmark {

class PassHook {
 public:
  virtual ~PassHook() = default;
  // The request is checked, its memory reserved and its GEMMs ready; the upload of its inputs comes next.
  virtual void before_pass(Context& context) = 0;
  // The last op, or the whole graph, is queued; the download that waits for it is not.
  virtual void after_pass(Context& context) = 0;
};

}  // namespace branchmark
