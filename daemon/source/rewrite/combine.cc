#include "source/rewrite/combine.h"

#include <map>
#include <utility>

namespace cupilot::source {

std::string CombineOfAtomic(std::string_view function) {
  static const std::map<std::string_view, std::string> kNames = {
      {"atomicAdd", "+"}, {"atomicMax", "max"}, {"atomicMin", "min"},
      {"atomicAnd", "&"}, {"atomicOr", "|"},    {"atomicXor", "^"}};
  const auto found = kNames.find(function);
  return found == kNames.end() ? "" : found->second;
}

std::string Combined(const std::string& combine, const std::string& a, const std::string& b) {
  if (combine == "max") return "(" + a + " > " + b + " ? " + a + " : " + b + ")";
  if (combine == "min") return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
  return "(" + a + " " + combine + " " + b + ")";
}

std::string NeutralOf(const std::string& combine, const std::string& type) {
  static const std::map<std::string_view, std::pair<const char*, const char*>> kLimits = {
      {"int", {"(-2147483647 - 1)", "2147483647"}},
      {"unsigned int", {"0u", "4294967295u"}},
      {"long long", {"(-9223372036854775807ll - 1)", "9223372036854775807ll"}},
      {"unsigned long long", {"0ull", "18446744073709551615ull"}}};
  // -0 + x is x, for every x.
  if (type == "float" || type == "double") {
    return combine != "+" ? "" : type == "float" ? "-0.0f" : "-0.0";
  }
  const auto limits = kLimits.find(type);
  if (limits == kLimits.end()) return "";
  if (combine == "max") return limits->second.first;
  if (combine == "min") return limits->second.second;
  return combine == "&" ? "~(" + type + ")0" : "0";
}

}  // namespace cupilot::source
