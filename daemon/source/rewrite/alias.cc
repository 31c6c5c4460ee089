#include "source/rewrite/alias.h"

#include <set>

namespace cupilot::source {
namespace {

bool SharesBuffer(const records::Case& one) {
  std::set<std::string> seen;
  for (const records::Argument& argument : one.arguments) {
    if (!argument.buffer.empty() && !seen.insert(argument.buffer).second) return true;
  }
  return false;
}

}  // namespace

base::Result<> CheckDisjoint(const Draft& draft) {
  const auto no = [](const std::string& why) { return base::Fail(base::Unsupported(why)); };
  bool shares = SharesBuffer(draft.workload);
  for (const records::Case& one : draft.kernel.cases) shares = shares || SharesBuffer(one);
  if (shares) return no("two of its arguments lie in one buffer");
  for (const records::Argument& argument : draft.workload.arguments) {
    if (!argument.pointers.empty()) return no("'" + argument.name + "' holds pointers");
  }
  for (const records::MadeType& type : draft.kernel.made_types) {
    if (type.holds_pointers) return no("a lambda that it takes captures pointers");
  }
  for (const records::Parameter& parameter : draft.kernel.parameters) {
    if (parameter.element.find('*') != std::string::npos) {
      return no("'" + parameter.name + "' points to pointers");
    }
  }
  for (const records::ClosureGlobal& global : draft.kernel.globals) {
    if (global.space != "constant" || global.element.find('*') != std::string::npos) {
      return no("the global variable '" + global.symbol + "' may be what a pointer points to");
    }
  }
  return {};
}

}  // namespace cupilot::source
