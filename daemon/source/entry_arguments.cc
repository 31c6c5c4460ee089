#include "source/entry_arguments.h"

#include <algorithm>
#include <vector>

#include "records/argument_type.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

// As `takes` of the hook (swap/hook_prologue.cc) has it.
enum class Class { kOther, kPointer, kFloat, kDouble };

Class ClassOf(bool pointer, const std::string& canonical) {
  if (pointer) return Class::kPointer;
  return canonical == "float"    ? Class::kFloat
         : canonical == "double" ? Class::kDouble
                                 : Class::kOther;
}

// Why the entry's parameter does not take the kernel's; empty: it does.
std::string Mismatch(const Node& takes, const records::Parameter& given) {
  const bool pointer = given.kind == records::ParameterKind::kPointer;
  const bool sizes = takes.type_bytes == 0 || given.bytes == 0 || takes.type_bytes == given.bytes;
  const bool same = ClassOf(takes.type_class == TypeClass::kPointer, takes.canonical) ==
                    ClassOf(pointer, given.canonical);
  if (sizes && same) return {};
  return "'" + given.name + "' is " + given.type + ", the entry takes " + takes.type;
}

std::string WrongArgument(const Node& takes, const records::Json& argument,
                          const records::Kernel& kernel, const records::Variant& variant) {
  if (!argument.is_string()) {
    const std::string name = argument.value("type", std::string());
    const records::ArgumentType* const type = records::FindArgumentType(name);
    if (type == nullptr) return "type '" + name + "' is none of " + records::ArgumentTypeNames();
    if (takes.canonical == type->canonical) return {};
    return "type '" + name + "' is not the entry's own, which is " + takes.type;
  }
  const auto& name = argument.get_ref<const std::string&>();
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const records::Parameter& parameter = kernel.parameters[i];
    if (name == "$" + std::to_string(i) || (!name.empty() && name == parameter.name)) {
      return Mismatch(takes, parameter);
    }
  }
  const bool workspace = std::any_of(variant.workspace.begin(), variant.workspace.end(),
                                     [&](const auto& one) { return one.name == name; });
  if (!workspace) return "there is no '" + name + "'";
  if (takes.type_class == TypeClass::kPointer) return {};
  return "'" + name + "' is a workspace, the entry takes " + takes.type;
}

}  // namespace

std::string WrongArguments(const Tree& tree, NodeId entry, const records::Kernel& kernel,
                           const records::Variant& variant, const records::Launch& launch) {
  for (const records::Workspace& workspace : variant.workspace) {
    // Which of the two an expression or an argument means, gate and hook would have to agree on.
    if (std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                    [&](const auto& one) { return one.name == workspace.name; })) {
      return "the workspace '" + workspace.name + "' has the name of a parameter";
    }
  }
  const std::string where = "entry '" + launch.entry + "'";
  const std::vector<NodeId> takes = Parameters(tree, entry);
  const std::size_t given =
      launch.arguments.empty() ? kernel.parameters.size() : launch.arguments.size();
  if (takes.size() != given) {
    return where + " takes " + std::to_string(takes.size()) + " arguments, the launch has " +
           std::to_string(given);
  }
  for (std::size_t i = 0; i < given; ++i) {
    const Node& parameter = tree.at(takes[i]);
    const std::string wrong = launch.arguments.empty()
                                  ? Mismatch(parameter, kernel.parameters[i])
                                  : WrongArgument(parameter, launch.arguments[i], kernel, variant);
    if (!wrong.empty()) return where + ", argument " + std::to_string(i + 1) + ": " + wrong;
  }
  return {};
}

}  // namespace cupilot::source
