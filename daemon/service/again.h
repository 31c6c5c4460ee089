// When something that failed is tried again, where what stood in the way may pass by itself: a full
// disk, a device that is gone, a compiler that was killed. Each time after twice the time. Pure:
// the caller says what is the case, and when.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace cupilot::service {

class Again {
 public:
  static constexpr std::chrono::minutes kFirst{1};
  static constexpr std::chrono::hours kMost{6};

  // It has failed, or still has; it is tried again some time later.
  void Failed(const std::string& what, std::chrono::nanoseconds now);
  // It went well, or nobody wants it any more: forgotten.
  void Forget(const std::string& what) { entries_.erase(what); }
  // Those whose time has come, which are now tried: what becomes of them is to be said.
  std::set<std::string> Take(std::chrono::nanoseconds now);
  // The next one's time; nothing: none has failed.
  std::optional<std::chrono::nanoseconds> Next() const;

 private:
  struct Entry {
    std::chrono::nanoseconds pause{0};            // the last one
    std::optional<std::chrono::nanoseconds> due;  // nothing: it is being tried
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace cupilot::service
