// The one place where an output is opened.
//
// A path that exists and is no regular file (device, pipe, /dev/stdout) and "-" (stdout) are written in
// place. Any other path is claimed when opened: parents are made, an existing regular file is refused or,
// where it may be replaced, removed at once, so that an old output never passes for a new one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace branchmark {

enum class Replace { refuse, replace };

enum class OutputKind {
  whole,    // appears complete or not at all: written beside, fsynced, renamed by commit()
  growing,  // stands at its path from the start and grows: a journal
};

// True for "-", and for what exists and is no regular file.
bool is_written_in_place(const std::string& path);

// Throws usage where open_output would refuse to replace. Opens, makes and removes nothing.
void check_output(const std::string& path, Replace replace);

// Throws usage where something that is no folder has the name. Makes nothing.
void check_output_folder(const std::string& path);
// Makes the folder and its parents, and sees that a file can be made in it. Throws usage as above, io where
// it cannot.
void make_output_folder(const std::string& path);

// Throws usage where one path is named for two outputs; devices and pipes other than stdout may be.
void refuse_shared_paths(const std::vector<std::string>& paths);

// Makes a failed write an error that can be reported, where the system would end the process (a closed pipe,
// a file-size limit). Called once, by main.
void ignore_write_signals();

// Move-only. What was not committed is removed on destruction (kind `whole`), silently.
class OutputFile {
 public:
  // Throws usage for an existing regular file under Replace::refuse, io for what cannot be opened.
  static OutputFile open(const std::string& path, OutputKind kind, Replace replace);
  // For a file of kind `whole` to which any number of runs may give the same bytes at the same time: each
  // writes beside under a name of its own, and replaces what is there by what is equal to it. Its folder is
  // there already. A killed run leaves a `.partial` file.
  static OutputFile open_shared(const std::string& path);

  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  // Writes all of it, buffered; throws io, naming path and cause.
  void write(std::string_view text);
  // Returns when everything written is on disk (where the path has one).
  void sync();
  // Ends the output: sync, close, and for kind `whole` the rename that makes it visible. No write after it.
  void commit();
  // Removes what open() made, also a growing file. For a run that ends before it began.
  void discard() noexcept;

 private:
  OutputFile(std::string path, std::filesystem::path target, std::filesystem::path written, int fd,
             Replace replace)
      : path_(std::move(path)),
        target_(std::move(target)),
        written_(std::move(written)),
        fd_(fd),
        replace_(replace) {}
  void flush();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;               // as the user named it
  std::filesystem::path target_;   // empty: in place
  std::filesystem::path written_;  // the file that exists: beside the target, or the target; empty: in place
  int fd_ = -1;
  Replace replace_ = Replace::refuse;
  std::string buffer_;
};

}  // namespace branchmark
