// Values that can be made again when they are missing: so much of them is kept, by the size that
// each is said to have; where it becomes more, all others go. One thread.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace cupilot::service {

template <class Key, class Value>
class Kept {
 public:
  explicit Kept(std::size_t most) : most_(most) {}

  // Null: it is not there. Until the next change.
  const Value* Find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second.value;
  }
  // In the place of what was there. Until the next change.
  const Value& Add(const Key& key, Value value, std::size_t size = 1) {
    Drop(key);
    if (size_ + size > most_) Clear();
    size_ += size;
    return values_.emplace(key, Sized{std::move(value), size}).first->second.value;
  }
  void Drop(const Key& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return;
    size_ -= found->second.size;
    values_.erase(found);
  }
  // Those of which `is(key, value)` is true are not there any more.
  template <class Predicate>
  void DropIf(const Predicate& is) {
    for (auto it = values_.begin(); it != values_.end();) {
      const bool drop = is(it->first, it->second.value);
      if (drop) size_ -= it->second.size;
      it = drop ? values_.erase(it) : std::next(it);
    }
  }
  void Clear() {
    values_.clear();
    size_ = 0;
  }

 private:
  struct Sized {
    Value value;
    std::size_t size = 0;
  };
  std::size_t most_;
  std::size_t size_ = 0;
  std::map<Key, Sized> values_;
};

}  // namespace cupilot::service
