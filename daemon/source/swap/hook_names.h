// How the names of launch expressions are written inside the hook.
#pragma once

#include <map>
#include <set>
#include <string>

#include "records/expression.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::source {

class HookNames {
 public:
  // Both must outlive this object.
  HookNames(const records::Kernel& kernel, const records::Variant& variant)
      : kernel_(kernel), variant_(variant) {}

  // The index of a loop (`repeat`) that is open where the expression stands.
  void AddIndex(const std::string& name) { indices_.insert(name); }
  void RemoveIndex(const std::string& name) { indices_.erase(name); }
  // The function that answers blocks_per_sm(entry), and the variable that it fills.
  void AddOccupancy(const std::string& entry, const std::string& call,
                    const std::string& variable) {
    occupancies_[entry] = {call, variable};
  }

  // "EXPRESSION -> target": a C++ condition that is false where the expression has no value.
  base::Result<std::string> Print(const std::string& expression, const std::string& target) const;
  // The index of a parameter by name or "$k"; -1 if there is none.
  int ParameterIndex(std::string_view name) const;
  // The same of a name in an expression, where the launch's names and tunables hide parameters.
  int ParameterMeant(std::string_view name) const;

 private:
  std::optional<records::PrintedName> Lookup(std::string_view name) const;
  std::optional<records::PrintedName> OfParameter(int index) const;
  std::optional<records::PrintedName> OfMember(std::string_view name) const;
  static std::optional<records::PrintedName> OfKnownMember(const records::Parameter::Member& member,
                                                           int index);
  std::optional<records::PrintedName> OfBuiltin(std::string_view name) const;

  const records::Kernel& kernel_;
  const records::Variant& variant_;
  std::set<std::string, std::less<>> indices_;
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> occupancies_;
};

}  // namespace cupilot::source
