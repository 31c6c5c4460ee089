#include "client/named_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace cupilot::client {
namespace {

constexpr int kMostLinks = 40;  // as the kernel follows

base::Error Because(const std::string& path) {
  return base::IoError("cannot write " + path + ": " + std::generic_category().message(errno));
}

// The file that is meant, which need not exist.
base::Result<std::string> Followed(std::string path) {
  std::error_code ignored;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(path, ignored)) return path;
    const auto target = std::filesystem::read_symlink(path, ignored);
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return base::Fail(base::IoError("cannot write " + path + ": too many links"));
}

base::Result<> WriteInto(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return base::Fail(Because(path));
  base::Result<> done;
  while (!text.empty() && done) {
    const ssize_t wrote = ::write(file, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      done = base::Fail(Because(path));
    }
  }
  if (::close(file) != 0 && done) done = base::Fail(Because(path));
  return done;
}

}  // namespace

base::Result<> WriteNamedOutput(const std::string& path, std::string_view text) {
  std::error_code ignored;
  // Also behind links such as /dev/stdout, whose ends have no name.
  const auto kind = std::filesystem::status(path, ignored).type();
  const bool plain = kind == std::filesystem::file_type::regular ||
                     kind == std::filesystem::file_type::not_found ||
                     kind == std::filesystem::file_type::directory;
  if (!plain) return WriteInto(path, text);
  TRY_ASSIGN(const std::string target, Followed(path));
  return base::WriteFileDurably(target, text);
}

}  // namespace cupilot::client
