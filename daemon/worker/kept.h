// What a worker keeps of earlier requests: the most recently used values, as many as fit into a
// number of bytes. A worker serves one request at a time, so this is for one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace cupilot::worker {

template <class T>
class Kept {
 public:
  explicit Kept(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null if it is not kept (any more).
  std::shared_ptr<const T> Find(const std::string& key) {
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->key != key) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return it->value;
    }
    return nullptr;
  }

  // In place of what was kept by that key. Pushes out what was used longest ago; a value that is
  // too large alone is not kept at all.
  void Put(const std::string& key, std::shared_ptr<const T> value, std::size_t bytes) {
    const auto before = std::find_if(entries_.begin(), entries_.end(),
                                     [&](const Entry& entry) { return entry.key == key; });
    if (before != entries_.end()) {
      bytes_ -= before->bytes;
      entries_.erase(before);
    }
    if (bytes > most_bytes_) return;
    while (bytes_ + bytes > most_bytes_) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    entries_.push_front({key, std::move(value), bytes});
    bytes_ += bytes;
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const T> value;
    std::size_t bytes;
  };
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;
};

}  // namespace cupilot::worker
