// Variables of the images that a program loads: those that a plan names and that no rule gives a
// symbol (static ones, and those in unnamed namespaces).
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "recording/plan.h"

namespace cupilot::capture {

// Thread-safe.
class ImageSymbols {
 public:
  explicit ImageSymbols(const Plan& plan);

  bool wanted() const { return !symbols_.empty(); }
  // A device image (64-bit ELF; anything else is ignored), which is not kept.
  void Read(const char* image, std::size_t bytes);
  // What images call the variable, besides MangledVariable().
  std::vector<std::string> Find(const std::string& qualified) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> symbols_;  // by qualified name
};

}  // namespace cupilot::capture
