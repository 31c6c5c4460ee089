#include "source/lambda.h"

#include <algorithm>

namespace cupilot::source {
namespace {

void Collect(const std::vector<TemplateArgument>& arguments, std::vector<const Lambda*>& found) {
  for (const TemplateArgument& argument : arguments) {
    Collect(argument.pack, found);
    const Lambda* lambda = argument.lambda.get();
    const bool known = std::any_of(found.begin(), found.end(), [&](const Lambda* one) {
      return lambda != nullptr && one->name == lambda->name &&
             one->namespaces == lambda->namespaces && one->problem == lambda->problem;
    });
    if (lambda != nullptr && !known) found.push_back(lambda);
  }
}

// What of a member at the next place behind `offset` is to be known later on; past it.
void AddMember(const Lambda::Member& member, std::int64_t& offset, records::MadeType& type) {
  offset = (offset + member.alignment - 1) / member.alignment * member.alignment;
  const bool is_signed = member.type_class == TypeClass::kSigned;
  if (is_signed || member.type_class == TypeClass::kUnsigned) {
    type.integers.push_back({member.name, offset, member.bytes, is_signed});
  } else if (member.type_class != TypeClass::kFloating) {
    type.holds_pointers = true;
  }
  offset += member.bytes;
}

}  // namespace

std::vector<const Lambda*> LambdasOf(const Instantiation& instantiation) {
  std::vector<const Lambda*> found;
  Collect(instantiation.arguments, found);
  return found;
}

records::MadeType MadeTypeOf(const Lambda& lambda, bool host_toolkit) {
  const auto constant = [](const Lambda::Member& member) {
    return "  static constexpr " + member.declaration + " = " + member.value + ";\n";
  };
  records::MadeType type;
  type.namespaces = lambda.namespaces;
  type.name = QualifiedName(lambda);
  type.text = "struct " + lambda.name + " {\n";
  for (const Lambda::Member& member : lambda.constants) type.text += constant(member);
  bool captures = false;
  std::int64_t offset = 0;
  for (const Lambda::Member& member : lambda.members) {
    const bool held = member.value.empty() || !host_toolkit;
    type.text += held ? "  " + member.declaration + ";\n" : constant(member);
    captures = captures || held;
    if (held) AddMember(member, offset, type);
  }
  if (lambda.host_device && captures && !host_toolkit) type.text += "  void *cupilot_of_host;\n";
  const std::string attributes = lambda.host_device ? "__host__ __device__ " : "__device__ ";
  type.text += "  " + attributes + lambda.call + "\n};\n";
  return type;
}

std::string QualifiedName(const Lambda& lambda) {
  std::string name;
  for (const std::string& scope : lambda.namespaces) {
    if (!scope.empty()) name += scope + "::";
  }
  return name + lambda.name;
}

Chunk ChunkOf(const Lambda& lambda, bool host_toolkit) {
  Chunk chunk = PlaceOfLambda(lambda);
  chunk.text = MadeTypeOf(lambda, host_toolkit).text;
  chunk.namespaces = lambda.namespaces;
  for (const std::string& name : lambda.namespaces) {
    chunk.scopes.push_back({name.empty() ? "namespace {" : "namespace " + name + " {"});
  }
  return chunk;
}

Chunk PlaceOfLambda(const Lambda& lambda) {
  Chunk chunk;
  chunk.begin = lambda.function_begin;
  chunk.end = lambda.function_end;
  return chunk;
}

base::Result<std::string> InstanceOf(const Tree& tree, const Instantiation& instantiation,
                                     bool host_toolkit) {
  if (!host_toolkit) return instantiation.mangled;
  const auto likes = [&](const Instantiation& other) {
    return &other != &instantiation && other.kernel == instantiation.kernel &&
           other.type_name == instantiation.type_name;
  };
  if (std::any_of(tree.instantiations.begin(), tree.instantiations.end(), likes)) {
    return base::Fail(base::Unsupported(
        "other instantiations have parameters of the same types, and of a lambda's no other sign"));
  }
  for (const Lambda* lambda : LambdasOf(instantiation)) {
    if (lambda->counted_alike) continue;
    return base::Fail(base::Unsupported(
        "the lambda stands behind one of other parameters in the same function, so that compilers "
        "do not agree on its name"));
  }
  return tree.at(instantiation.kernel).qualified + " " + instantiation.type_name;
}

}  // namespace cupilot::source
