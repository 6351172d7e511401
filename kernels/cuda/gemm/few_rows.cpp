#include "few_rows.hpp"

#include "../wgmma_device.hpp"

namespace branchmark::cuda {

std::vector<FewRowsSettings> few_rows_kernels(const bmk_device& device, std::int64_t columns) {
  FewRowsPlace place;
  place.has_wgmma = has_wgmma(device);
  place.num_multiprocessors = device.num_multiprocessors;
  place.columns = columns;
  return few_rows_settings(place);
}

void few_rows_multiply(const FewRowsSettings& settings, const FewRowsProduct& product, cudaStream_t stream) {
  if (settings.family == FewRowsFamily::kWgmma)
    few_rows_wgmma(settings, product, stream);
  else
    few_rows_mma(settings, product, stream);
}

}  // namespace branchmark::cuda
