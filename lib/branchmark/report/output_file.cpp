#include "branchmark/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "branchmark/base/error.hpp"

namespace branchmark {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_io(const std::string& path, const char* what, int error) {
  throw Error(ErrorCode::io, fmt::format("output {}: {}: {}", path, what, std::strerror(error)));
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw Error(
      ErrorCode::usage,
      fmt::format("output {}: found an existing file, expected none; name another or pass --force", path));
}

// The descriptor that a path stands for. Opening such a path anew would fail on a socket and, where stdout
// was redirected to a file, write from its beginning.
std::optional<int> named_descriptor(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const char* end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, fd);
    if (error == std::errc() && stop == end && fd >= 0) return fd;
  }
  return std::nullopt;
}

int open_in_place(const std::string& path) {
  const auto named = named_descriptor(path);
  const int fd = named ? ::fcntl(*named, F_DUPFD_CLOEXEC, 0)
                       : ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) fail_io(path, "cannot be opened", errno);
  return fd;
}

int open_new(const std::string& path, const fs::path& written, int flags) {
  const int fd = ::open(written.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0 && errno == EEXIST) refuse_existing(path);
  if (fd < 0) fail_io(path, "cannot be created", errno);
  return fd;
}

// Makes a new name survive a power cut. Some file systems cannot: the file itself is safe by then.
void sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

bool is_written_in_place(const std::string& path) {
  if (named_descriptor(path)) return true;
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

void check_output(const std::string& path, Replace replace) {
  if (replace == Replace::refuse && !is_written_in_place(path) && fs::exists(fs::symlink_status(path)))
    refuse_existing(path);
}

void check_output_folder(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (path == "-" || (fs::exists(status) && !fs::is_directory(status)))
    throw Error(ErrorCode::usage, fmt::format("output {}: found {}, expected a folder or nothing", path,
                                              path == "-" ? "stdout" : "a file"));
}

void make_output_folder(const std::string& path) {
  check_output_folder(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_io(path, "the folder cannot be made", error.value());
  static_cast<void>(OutputFile::open_shared(path + "/writable"));
}

void refuse_shared_paths(const std::vector<std::string>& paths) {
  const auto same = [](const std::string& a, const std::string& b) {
    if (is_written_in_place(a) || is_written_in_place(b)) return a == b && a == "-";
    return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
  };
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same(paths[i], paths[j]))
        throw Error(ErrorCode::usage,
                    fmt::format("output {}: named for two outputs, expected a path for each", paths[i]));
}

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

OutputFile OutputFile::open(const std::string& path, OutputKind kind, Replace replace) {
  if (is_written_in_place(path)) return OutputFile(path, {}, {}, open_in_place(path), replace);
  const fs::path target = path;
  if (target.has_parent_path()) {
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) fail_io(path, "its folder cannot be made", error.value());
  }
  check_output(path, replace);
  if (replace == Replace::replace && ::unlink(target.c_str()) != 0 && errno != ENOENT)
    fail_io(path, "the existing file cannot be removed", errno);
  if (kind == OutputKind::growing) {
    OutputFile file(path, target, target, open_new(path, target, O_EXCL), replace);
    sync_folder(target);
    return file;
  }

  fs::path beside = target;
  beside += ".partial";
  OutputFile file(path, target, beside, open_new(path, beside, O_NOFOLLOW), replace);
  // A killed run leaves its partial file and no lock: it is taken over. A live one holds the lock.
  if (::flock(file.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    file.written_.clear();
    throw Error(ErrorCode::usage, fmt::format("output {}: another run is writing it, expected none", path));
  }
  if (::ftruncate(file.fd_, 0) != 0) file.fail("cannot be emptied", errno);
  return file;
}

OutputFile OutputFile::open_shared(const std::string& path) {
  fs::path beside = path;
  beside += fmt::format(".{:08x}.partial", std::random_device()());
  return OutputFile(path, path, beside, open_new(path, beside, O_EXCL), Replace::replace);
}

OutputFile::OutputFile(OutputFile&& other) noexcept {
  *this = std::move(other);
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(written_, other.written_);
  std::swap(fd_, other.fd_);
  std::swap(replace_, other.replace_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  if (written_ != target_) discard();
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::fail(const char* what, int error) const {
  fail_io(path_, what, error);
}

void OutputFile::write(std::string_view text) {
  constexpr std::size_t kBufferBytes = 1 << 16;
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::sync() {
  flush();
  // Pipes and terminals have no disk behind them and say EINVAL or ENOTSUP.
  while (::fsync(fd_) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
    if (errno != EINTR) fail("cannot be brought to disk", errno);
  }
}

void OutputFile::commit() {
  sync();
  if (written_ != target_) {
    // link() refuses what appeared at the path since open(); a file system without links gets the rename.
    const bool claim = replace_ == Replace::refuse;
    if (claim && ::link(written_.c_str(), target_.c_str()) == 0) {
      ::unlink(written_.c_str());
    } else if (claim && errno == EEXIST) {
      fail("appeared while the run went on", EEXIST);
    } else if (::rename(written_.c_str(), target_.c_str()) != 0) {
      fail("cannot be put in its place", errno);
    }
    sync_folder(target_);
  }
  written_ = target_;
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail("cannot be closed", errno);
}

void OutputFile::discard() noexcept {
  if (!written_.empty()) ::unlink(written_.c_str());
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace branchmark
