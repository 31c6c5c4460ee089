#include "agents/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace cupilot::agents {
namespace {

constexpr std::size_t kLongestKey = 16384;

base::Result<base::Secret> Checked(std::string text, const std::string& where) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  const bool one_word = std::all_of(text.begin(), text.end(), [](char c) {
    return c > 0x20 && c < 0x7f;  // anything else could end a header
  });
  if (text.empty() || !one_word) {
    return base::Fail(base::InvalidArgument(where + " holds no key: expected one word"));
  }
  return base::Secret(std::move(text));
}

enum class Owner { kUserAlone, kSystem };

// kNotFound if there is no such file.
base::Result<base::Secret> ReadKeyFile(const std::string& path, Owner owner) {
  // Not through a link, and without waiting for a writer of a pipe.
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    if (errno == ENOENT) return base::Fail(base::NotFound(path));
    return base::Fail(base::Unavailable(path + " cannot be opened, or is a link"));
  }
  struct stat status{};
  const bool known = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  std::string text;
  if (known) {
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0;
         text.size() <= kLongestKey && (n = ::read(file, buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  ::close(file);
  if (!known) return base::Fail(base::Unavailable(path + " is no file"));
  if (owner == Owner::kUserAlone && (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)) {
    return base::Fail(
        base::Unavailable(path + " can be read or changed by others; run: chmod 600 " + path));
  }
  if (text.size() > kLongestKey) return base::Fail(base::InvalidArgument(path + " is too long"));
  return Checked(std::move(text), path);
}

}  // namespace

base::Result<base::Secret> TakeKey(const KeySource& source) {
  std::string places;
  const auto place = [&places](const std::string& one) {
    places += (places.empty() ? "" : ", ") + one;
  };
  if (!source.variable.empty()) {
    if (const char* value = std::getenv(source.variable.c_str())) {
      std::string text = value;
      ::unsetenv(source.variable.c_str());
      return Checked(std::move(text), "the variable " + source.variable);
    }
    place("the variable " + source.variable);
  }
  if (!source.file.empty()) {
    auto key = ReadKeyFile(source.file, Owner::kUserAlone);
    if (key || key.error().code != base::ErrorCode::kNotFound) return key;
    place("the file " + source.file);
  }
  if (!source.credential.empty()) {
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder != nullptr && folder[0] == '/') {
      auto key = ReadKeyFile(std::string(folder) + "/" + source.credential, Owner::kSystem);
      if (key || key.error().code != base::ErrorCode::kNotFound) return key;
    }
    place("systemd's credential " + source.credential);
  }
  return base::Fail(
      base::NotFound("no key; looked for " + (places.empty() ? std::string("none") : places)));
}

base::Result<base::Secret> KeyRing::Take(const KeySource& source) {
  const std::string places = source.variable + "\n" + source.file + "\n" + source.credential;
  if (const auto found = taken_.find(places); found != taken_.end()) return found->second;
  TRY_ASSIGN(base::Secret key, TakeKey(source));
  taken_[places] = key;
  return key;
}

}  // namespace cupilot::agents
