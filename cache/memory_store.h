// A store that lives as long as its object: for `cupilotd --once` and for tests.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "cache/store.h"

namespace cupilot::cache {

class MemoryStore final : public Store {
 public:
  base::Result<std::optional<std::string>> Get(Table table, std::string_view key) override;
  base::Result<> Apply(const std::vector<Write>& writes) override;
  base::Result<> Scan(
      Table table, std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) override;

 private:
  using Rows = std::map<std::string, std::string, std::less<>>;
  std::mutex guard_;
  std::array<Rows, kTableCount> tables_;
};

}  // namespace cupilot::cache
