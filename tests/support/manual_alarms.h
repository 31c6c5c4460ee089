// Alarms that go off when the test lets time pass, with the clock that belongs to them.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "agents/alarms.h"
#include "tests/support/manual_clock.h"

namespace cupilot::test {

class ManualAlarms final : public agents::Alarms {
 public:
  explicit ManualAlarms(ManualClock& clock) : clock_(clock) {}

  std::unique_ptr<agents::Alarm> After(std::chrono::milliseconds delay,
                                       base::UniqueFunction<void()> expired) override {
    entries_.push_back({clock_.Now() + delay, std::move(expired)});
    return std::make_unique<Set>(*this, std::prev(entries_.end()));
  }

  // The time until the next one; nothing: none is set.
  std::optional<std::chrono::milliseconds> Next() const {
    const auto first = First();
    if (first == entries_.end()) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(first->due - clock_.Now());
  }
  // Lets `time` pass; what is due by then goes off in its order.
  void Advance(std::chrono::milliseconds time) {
    const auto until = clock_.Now() + time;
    while (true) {
      const auto first = First();
      if (first == entries_.end() || first->due > until) break;
      clock_.Advance(first->due - clock_.Now());
      auto expired = std::move(first->expired);
      first->expired = nullptr;
      expired();
    }
    clock_.Advance(until - clock_.Now());
  }

 private:
  struct Entry {
    std::chrono::nanoseconds due;
    base::UniqueFunction<void()> expired;
  };
  struct Set final : agents::Alarm {
    Set(ManualAlarms& all, std::list<Entry>::iterator one) : owner(all), entry(one) {}
    ~Set() override { owner.entries_.erase(entry); }
    ManualAlarms& owner;
    std::list<Entry>::iterator entry;
  };

  std::list<Entry>::iterator First() {
    auto first = entries_.end();
    for (auto one = entries_.begin(); one != entries_.end(); ++one) {
      if (one->expired && (first == entries_.end() || one->due < first->due)) first = one;
    }
    return first;
  }
  std::list<Entry>::const_iterator First() const {
    return const_cast<ManualAlarms*>(this)->First();
  }

  ManualClock& clock_;
  std::list<Entry> entries_;
};

}  // namespace cupilot::test
