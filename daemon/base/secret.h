// A string that must not reach a log, a record, a prompt or an error text.
#pragma once

#include <string>
#include <utility>

namespace cupilot::base {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  // The bytes; the one place that may use them is the request that needs them.
  const std::string& Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

// What is printed in its place.
inline std::string ToString(const Secret&) { return "***"; }

}  // namespace cupilot::base
