// A seeded sequence, the same with every standard library; and what the process holds.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace cupilot::test {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  // 0 to `end` - 1.
  std::uint64_t Below(std::uint64_t end) { return random_() % end; }
  bool OneIn(std::uint64_t count) { return Below(count) == 0; }
  std::int64_t Between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(last - first + 1)));
  }
  template <class T>
  const T& Of(const std::vector<T>& all) {
    return all[Below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

// What the process has open, but for files of a folder.
inline std::multiset<std::string> OpenDescriptors(const std::string& but) {
  std::multiset<std::string> open;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (error || target.starts_with(but) || target.starts_with("/proc/")) continue;
    // "anon_inode:[eventpoll]", "socket:[123]": without the number.
    open.insert(target.substr(0, target.find(":[")));
  }
  return open;
}

// What was allocated and not freed: resident memory also has what lies free between it. 0: not
// known.
inline double AllocatedMegabytes() {
  const auto counts = ::mallinfo2();
  return static_cast<double>(counts.uordblks + counts.hblkhd) / 0x1p20;
}

inline double ResidentMegabytes() {
  ::malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 0x1p20;
}

}  // namespace cupilot::test
