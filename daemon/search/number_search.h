// The search over numbers: which values of a kernel's tunables to try next, by a strategy of the
// table (strategy.h) on the solved space. Pure: what it returns is a function of the space, the
// strategy, the seed and the results that were reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/launch_facts.h"
#include "search/number_space.h"
#include "search/space.h"
#include "search/strategy.h"

namespace cupilot::search {

// Which strategy looks for numbers where nobody says.
inline constexpr const char* kNumberStrategy = kDefaultStrategy.data();

// Times are relative to the original: 1 is as long as that. The standard point, where the source's
// own values are one, is known to be 1 and never given. The space is solved when the first point
// is asked for. A point that will probably not fit on the device, by what the compiler said of the
// nearest one that was built, is given later.
class NumberSearch {
 public:
  NumberSearch(NumberSpace space, std::uint64_t seed, std::string strategy = kNumberStrategy);

  // The next point, or nothing when the strategy has none now. May be called again before the point
  // was reported. Each point is given once.
  std::optional<Values> Next();
  // Whether Next() would give one; changes nothing of what it gives.
  bool HasNext();

  // The result of a point that Next() returned: its speedup over the original, or nothing if it was
  // rejected, for what; and what the compiler said of it.
  void Report(const Values& values, std::optional<double> speedup, const BuildReport& built = {},
              Failure failure = Failure::kWrong);

  // The result of a point that others asked for, or that Next() returned: as Report().
  void Know(const Values& values, std::optional<double> speedup, const BuildReport& built = {},
            Failure failure = Failure::kWrong);

  // What is known better of a point that was reported. The strategy keeps what it was told: its
  // neighbours promise as much as before.
  void Correct(const Values& values, std::optional<double> speedup);

  const Values& best() const { return best_; }
  double best_speedup() const { return best_speedup_; }
  // Results since the last improvement; tells how promising it is to go on.
  int without_gain() const { return without_gain_; }
  const std::string& strategy() const { return strategy_name_; }
  // What a person should know of the space: what of it could not be solved, or why it is empty.
  // Empty before the first point was asked for.
  const std::string& warning() const { return warning_; }
  // Valid points, at most 2^63; 0 before they are known. Stays after Close().
  std::uint64_t size() const { return size_; }

  // Nothing more is asked: frees what that would need.
  void Close();

 private:
  // A point that the strategy asked for.
  struct Asked {
    bool reported = false;
    std::optional<double> time;  // relative to the original's; nothing: it failed
    int waiting = 1;             // how often the strategy waits for it
    Failure failure = Failure::kWrong;
  };

  void Begin();
  bool Ask();
  void Tell(const Point& point, const Asked& asked);
  void Put(const Point& point, Asked& asked, const Values& values, std::optional<double> speedup,
           const BuildReport& built, Failure failure);
  bool LooksTooLarge(const Point& point) const;
  std::optional<Point> PointOf(const Values& values) const;
  std::optional<Point> NearestOf(const Values& champion) const;

  NumberSpace numbers_;  // once it was solved `require` is what could not be
  std::uint64_t seed_;
  std::string strategy_name_;
  std::uint64_t size_ = 0;
  bool begun_ = false;
  bool dry_ = false;  // nothing was left; the strategy is asked again after the next result
  std::unique_ptr<const SolvedSpace> solved_;  // before the strategy, which refers to it
  std::unique_ptr<const LaunchFacts> facts_;   // and to this; may be null
  std::unique_ptr<Strategy> strategy_;
  std::string warning_;
  std::map<Point, Asked> asked_;
  std::optional<Point> ahead_;  // that HasNext() looked at
  // What is put off, and how many others are given before it.
  struct Later {
    Point point;
    int after = 0;
  };
  std::deque<Later> later_;
  std::vector<std::pair<Point, BuildReport>> built_;
  Values best_;
  double best_speedup_ = 1.0;
  int without_gain_ = 0;
};

}  // namespace cupilot::search
