#include "source/swap/variant_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/hash.h"
#include "source/swap/entry_bodies.h"
#include "source/swap/pattern.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

// A tunable's value: a number, a boolean, or one word (a type's name, say).
base::Result<std::string> ValueText(const std::string& name, const records::Json& value) {
  if (value.is_boolean()) return std::string(value.get<bool>() ? "1" : "0");
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return value.dump();
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (IsIdentifier(text)) return text;
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    if (digits) return text;
  }
  return base::Fail(base::InvalidArgument(
      "values." + name + ": a number or one word is expected, found " + value.dump()));
}

struct Macros {
  std::string before;
  std::string after;
};

base::Result<Macros> MacrosOf(const records::Variant& variant) {
  Macros macros;
  for (const auto& [name, value] : variant.values) {
    if (!IsIdentifier(name)) {
      return base::Fail(base::InvalidArgument("values: '" + name + "' is not an identifier"));
    }
    TRY_ASSIGN(const std::string text, ValueText(name, value));
    macros.before += Filled("#pragma push_macro(\"@0\")\n#undef @0\n#define @0 @1\n", {name, text});
    macros.after += Filled("#undef @0\n#pragma pop_macro(\"@0\")\n", {name});
  }
  return macros;
}

// What the preprocessor knows of one target: sm_90a and sm_100f share their number with others.
std::string ConditionOf(const std::string& target) {
  const std::string number = std::to_string(ArchitectureNumber(target));
  const std::string specific =
      "defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)";
  const std::string family = "defined(__CUDA_ARCH_FAMILY_SPECIFIC__)";
  std::string kind;
  switch (ArchitectureSuffix(target)) {
    case 'a':
      kind = "(" + specific + ")";
      break;
    case 'f':
      kind = family + " && !(" + specific + ")";
      break;
    default:
      kind = "!(" + specific + " || " + family + ")";
  }
  return "(__CUDA_ARCH__ == " + number + " && " + kind + ")";
}

// "(__CUDA_ARCH__ == 800 && ...) || ...", or empty where all is compiled.
std::string ArchitectureCondition(const std::vector<std::string>& targets) {
  std::set<std::string> conditions;
  for (const std::string& target : targets) {
    if (ArchitectureNumber(target) == 0) return {};
    conditions.insert(ConditionOf(target));
  }
  std::string all;
  for (const std::string& condition : conditions) {
    all += (all.empty() ? "" : " || \\\n    ") + condition;
  }
  return all;
}

base::Result<std::string> GuardedSource(const std::string& source, const std::string& condition) {
  TRY_ASSIGN(const std::vector<EntryBody> entries, FindEntryBodies(source));
  if (condition.empty()) return source;
  std::string text;
  std::size_t at = 0;
  for (const EntryBody& entry : entries) {
    if (entry.end == 0) continue;
    text += source.substr(at, entry.begin + 1 - at) + "\n#if " + condition + "\n" +
            source.substr(entry.begin + 1, entry.end - entry.begin - 2) +
            "\n#else\n__trap();\n#endif\n";
    at = entry.end - 1;
  }
  return text + source.substr(at);
}

// The host pass includes them too (the toolkit's have variables of their own, which it has to
// know), so only what is known to hold no code that runs by itself.
constexpr std::array<std::string_view, 17> kHeaders = {"cuda_runtime.h",
                                                       "cuda_fp16.h",
                                                       "cuda_bf16.h",
                                                       "cuda_fp8.h",
                                                       "mma.h",
                                                       "math_constants.h",
                                                       "cuda_pipeline.h",
                                                       "cooperative_groups.h",
                                                       "cooperative_groups/reduce.h",
                                                       "cooperative_groups/scan.h",
                                                       "cooperative_groups/memcpy_async.h",
                                                       "cuda/atomic",
                                                       "cuda/barrier",
                                                       "cuda/pipeline",
                                                       "cstdint",
                                                       "cmath",
                                                       "cfloat"};

std::string WithNewline(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

}  // namespace

bool IsKnownHeader(std::string_view name) {
  return std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end();
}

bool IsIdentifier(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  if (text == "defined" || text == "asm" || text == "extern" || text == "_Pragma") return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

int ArchitectureNumber(const std::string& target) {
  constexpr std::string_view kPrefix = "compute_";
  if (!target.starts_with(kPrefix)) return 0;
  int number = 0;
  for (std::size_t i = kPrefix.size();
       i < target.size() && std::isdigit(static_cast<unsigned char>(target[i])); ++i) {
    if (number > 10000) return 0;
    number = number * 10 + (target[i] - '0');
  }
  return number * 10;
}

char ArchitectureSuffix(const std::string& target) {
  constexpr std::string_view kPrefix = "compute_";
  if (!target.starts_with(kPrefix)) return 0;
  const std::size_t end = target.find_first_not_of("0123456789", kPrefix.size());
  return end != std::string::npos && (target[end] == 'a' || target[end] == 'f') ? target[end] : 0;
}

std::string EntryName(const records::Kernel& kernel, const records::Variant& variant,
                      const std::string& entry) {
  if (variant.source.empty()) return entry;
  std::string name;
  for (const std::string& scope : kernel.namespaces) {
    if (!scope.empty()) name += scope + "::";
  }
  return name + records::VariantNamespace(variant.id) + "::" + entry;
}

std::string QualifiedEntry(const records::Kernel& kernel, const records::Variant& variant,
                           const std::string& entry) {
  return "::" + EntryName(kernel, variant, entry);
}

base::Result<std::string> IncludeLines(const records::Variant& variant) {
  std::string lines;
  for (const std::string& header : variant.includes) {
    if (!IsKnownHeader(header)) {
      return base::Fail(base::InvalidArgument("includes: '" + header + "' is not on the list"));
    }
    lines += "#include <" + header + ">\n";
  }
  return lines;
}

std::string UnitNamespace(const records::Kernel& kernel, const std::string& unit) {
  const std::size_t scope = kernel.name.rfind("::");
  const std::string name = scope == std::string::npos ? kernel.name : kernel.name.substr(scope + 2);
  // Compilers take other letters than ours, too; those are left out.
  return "of_" + (IsIdentifier(name) ? name + "_" : "") + base::HashHex(unit).substr(0, 16);
}

namespace {

// "n" of "#define n(a) a" and of "#undef n".
std::string MacroName(const std::string& line) {
  const std::size_t begin = line.find(' ') + 1;
  return line.substr(begin, line.find_first_of(" (", begin) - begin);
}

// Whether what a macro stands for is part of a type's name and no more.
bool IsOfType(const std::string& definition) {
  const std::size_t begin = std::string_view("#define ").size();
  const std::size_t end = definition.find_first_of(" (", begin);
  if (end == std::string::npos || definition[end] == '(') return false;
  const std::string body = definition.substr(end);
  const std::vector<Token> tokens = Lex(body);
  return std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    const std::string_view word = Spelling(body, token);
    return token.kind == TokenKind::kIdentifier || word == "*" || word == "&" || word == "::";
  });
}

// A variant is compiled in behind the user's file, where macros may have the names of its
// variables: those of the kernel's own place are put back for it. Where the host pass declares it,
// only those of types are: whatever a record says, no macro of it makes host code.
std::string MacrosAtKernel(const records::Kernel& kernel, bool in_host_pass) {
  std::string text;
  for (const std::string& line : kernel.macros_back) {
    const std::string name = MacroName(line);
    text += "#pragma push_macro(\"" + name + "\")\n#undef " + name + "\n";
    const bool defines = line.starts_with("#define ");
    if (defines && (!in_host_pass || IsOfType(line))) text += line + "\n";
  }
  return text;
}

std::string MacrosBehind(const records::Kernel& kernel) {
  std::string text;
  for (const std::string& line : kernel.macros_back) {
    text += "#pragma pop_macro(\"" + MacroName(line) + "\")\n";
  }
  return text;
}

}  // namespace

base::Result<std::string> VariantText(const records::Kernel& kernel,
                                      const records::Variant& variant,
                                      const std::vector<std::string>& targets,
                                      const std::string& unit) {
  TRY_ASSIGN(const std::string source,
             GuardedSource(variant.source, ArchitectureCondition(targets)));
  return InVariantNamespace(kernel, variant, unit, source);
}

base::Result<std::string> InVariantNamespace(const records::Kernel& kernel,
                                             const records::Variant& variant,
                                             const std::string& unit, const std::string& source,
                                             bool in_host_pass) {
  TRY_ASSIGN(const Macros macros, MacrosOf(variant));
  std::string text = (unit.empty() ? "" : MacrosAtKernel(kernel, in_host_pass)) + macros.before;
  std::string close;
  for (const std::string& scope : kernel.namespaces) {
    text += scope.empty() ? "namespace { " : "namespace " + scope + " { ";
    close += "} ";
  }
  text += "namespace " + records::VariantNamespace(variant.id) + " {\n";
  if (!unit.empty()) {
    text += "inline namespace " + UnitNamespace(kernel, unit) + " {\n";
    close += "} ";
  }
  text += WithNewline(source);
  return text + "} " + close + "\n" + macros.after + (unit.empty() ? "" : MacrosBehind(kernel));
}

base::Result<std::string> CandidateText(const records::Kernel& kernel,
                                        const records::Variant& variant,
                                        const std::string& closure) {
  TRY_ASSIGN(const std::string includes, IncludeLines(variant));
  TRY_ASSIGN(const std::string text, VariantText(kernel, variant));
  return includes + WithNewline(closure.empty() ? kernel.closure_source : closure) +
         WithNewline(kernel.closure_macros) + text;
}

}  // namespace cupilot::source
