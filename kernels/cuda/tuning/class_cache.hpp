// The file that remembers, from one run to the next, which algorithms of the vendor's library were proven to
// give the same bits on a device, and which was fastest at how many rows.
//
// JSON, written whole to a temporary file and renamed into place, so that a reader sees one version or the
// other. The file is a hint and never a truth: what does not parse counts as absent, and an entry is used
// only after a product was compared again.
//
// Host-only, no CUDA header. No global state; functions on one path from several threads or processes are
// safe, and the last writer wins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "row_table.hpp"

namespace branchmark::cuda {

// What must be equal for an entry to say anything.
struct ClassKey {
  std::string device_name;
  std::string device_uuid;
  std::string driver_version;
  std::string blas_version;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t x_stride = 0;
  std::int64_t w_stride = 0;
  std::int64_t y_stride = 0;

  bool operator==(const ClassKey&) const = default;
};

struct ClassEntry {
  ClassKey key;
  // Fingerprints of every algorithm that was put to the proof, the fixed one first, and whether it passed.
  std::vector<std::string> fingerprints;
  std::vector<bool> is_member;
  std::string class_digest;  // of the fixed algorithm's output bits on the proof's data
  RowTable table;            // algorithms are indices into fingerprints

  bool operator==(const ClassEntry&) const = default;
};

// Text of a file with these entries.
std::string format_class_cache(const std::vector<ClassEntry>& entries);

// The entries of a file's text. Nothing where the text is not this format and version; an entry that is not
// whole, or whose table names no member of its own, is left out.
std::vector<ClassEntry> parse_class_cache(std::string_view text);

// Puts `entry` in the place of the one with its key, or at the end.
void merge_entry(std::vector<ClassEntry>& entries, ClassEntry entry);

const ClassEntry* find_entry(const std::vector<ClassEntry>& entries, const ClassKey& key);

// The entries in a file; none where there is no such file or it cannot be read.
std::vector<ClassEntry> read_class_cache(const std::string& path);

// Reads the file again, merges `entry`, and replaces the file, making its folder first. Empty on success,
// else the reason; the old file is then as it was.
std::string update_class_cache(const std::string& path, const ClassEntry& entry);

}  // namespace branchmark::cuda
