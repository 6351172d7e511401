// A loaded kernel module: a shared library that exports the table of branchmark/kernels.h.
//
// Loaded with local, immediate binding, so that two builds of one module can stand side by side, and never
// unloaded: a module may own threads and per-thread state that outlive its last caller.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "branchmark/kernels.h"

namespace branchmark {

class KernelLibrary {
 public:
  // Loads a module file. Throws not_eligible where the file is missing, is no module, or speaks another ABI
  // version (both versions in the message). Loading one file twice gives the same statics; copy the file
  // first where two sets are wanted.
  static std::shared_ptr<const KernelLibrary> load(const std::filesystem::path& file);

  // Loads the shipped module `name` ("cpu", "cuda"): beside the executable, then in ../lib/branchmark.
  static std::shared_ptr<const KernelLibrary> load_shipped(const std::string& name);

  // Where load_shipped looks for it, in order.
  static std::vector<std::filesystem::path> shipped_paths(const std::string& name);

  const bmk_kernels& table() const noexcept { return *table_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  KernelLibrary(std::filesystem::path path, const bmk_kernels* table)
      : path_(std::move(path)), table_(table) {}

  std::filesystem::path path_;
  const bmk_kernels* table_;
};

}  // namespace branchmark
