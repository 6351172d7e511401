// A recording of the ABI, instantiated for replay, and the functions of its group.
#pragma once

#include "stream.hpp"

struct bmk_graph {
  bmk_device* device = nullptr;
  cudaGraphExec_t executable = nullptr;
};

namespace branchmark::cuda {

extern const bmk_graph_api kGraphApi;

}  // namespace branchmark::cuda
