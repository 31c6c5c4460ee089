// The upgrade that the stories make, which rewrites what is there, and the store's batches as
// lines.
#pragma once

#include <string>
#include <vector>

#include "cache/upgrade.h"

namespace cupilot::test {

inline constexpr int kLaterFormat = cache::kStoreFormat + 1;
inline constexpr const char* kUpgradeDate = "2026-11-21T08:30:00Z";

// Every kernel's value stands under "later/" and its key from the later format on.
inline std::vector<cache::UpgradeStep> LaterSteps() {
  std::vector<cache::UpgradeStep> steps = cache::UpgradeSteps();
  steps.push_back(
      {cache::kStoreFormat, [](cache::Store& store, std::vector<cache::Write>& writes) {
         return store.Scan(
             cache::Table::kKernels, "", [&](std::string_view key, std::string_view value) {
               writes.push_back({cache::Table::kKernels, std::string(key), std::nullopt});
               writes.push_back(
                   {cache::Table::kKernels, "later/" + std::string(key), std::string(value)});
               return true;
             });
       }});
  return steps;
}

}  // namespace cupilot::test
