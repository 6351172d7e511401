// Where a case gets its device from, at the time when it runs: cases are listed without touching one.
#pragma once

#include <functional>
#include <memory>

#include "branchmark/device/context.hpp"

namespace branchmark {

// Gives the run's context, opening it on the first call. Throws what Context::open does.
using ContextSource = std::function<std::shared_ptr<Context>()>;

}  // namespace branchmark
