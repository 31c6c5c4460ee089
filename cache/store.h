// The store of everything that the daemon knows. One key-value table a kind; a write is atomic and
// durable when it returns. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cupilot::cache {

enum class Table {
  kProjects,
  kKernels,
  kWorkloads,
  kVariants,
  kEvaluations,
  kStrategies,
  kSelections,
  kCounters,
};
inline constexpr std::size_t kTableCount = 8;

// "projects", "kernels", ...: the names of the column families.
std::string_view TableName(Table table);

struct Write {
  Table table;
  std::string key;
  std::optional<std::string> value;  // absent: delete
};

class Store {
 public:
  virtual ~Store() = default;
  virtual base::Result<std::optional<std::string>> Get(Table table, std::string_view key) = 0;
  // All writes or none; on disk when this returns.
  virtual base::Result<> Apply(const std::vector<Write>& writes) = 0;
  // Calls `visit` for each key with the prefix, in key order, until it returns false.
  virtual base::Result<> Scan(
      Table table, std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) = 0;
  // Gives the room of what was deleted back to the disk: begun when it returns, done some time
  // later.
  virtual base::Result<> Compact() { return {}; }
  // A copy of all that is there in a folder that does not exist. kUnsupported where there are no
  // files to be copied.
  virtual base::Result<> CopyTo(const std::string& folder) {
    return base::Fail(base::Unsupported("there is nothing to copy to " + folder));
  }
};

}  // namespace cupilot::cache
