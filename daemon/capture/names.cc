#include "capture/names.h"

#include <cxxabi.h>

#include <cstdlib>

namespace cupilot::capture {
namespace {

// Erases `scope...::` wherever it stands.
void EraseScopes(std::string& text, std::string_view scope) {
  for (std::size_t at = text.find(scope); at != std::string::npos; at = text.find(scope, at)) {
    const std::size_t end = text.find("::", at);
    if (end == std::string::npos) return;
    text.erase(at, end + 2 - at);
  }
}

std::string Part(std::string_view name) { return std::to_string(name.size()) + std::string(name); }

}  // namespace

std::string PlainName(const std::string& symbol) {
  int status = 0;
  // Names without a mark are C's: "f" is not the type float.
  char* demangled = symbol.rfind("_Z", 0) != 0
                        ? nullptr
                        : abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string text = demangled == nullptr ? symbol : demangled;
  std::free(demangled);
  EraseScopes(text, "(anonymous namespace)");
  EraseScopes(text, "_INTERNAL_");
  EraseScopes(text, "_GLOBAL__N_");
  return text;
}

std::string QualifiedName(const std::string& symbol) {
  std::string name;
  int depth = 0;
  for (const char c : PlainName(symbol)) {
    if (c == '<' || c == '[') ++depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0) name += c == ' ' ? '\n' : c;
    if (c == '>' || c == ']') --depth;
  }
  const std::size_t begin = name.rfind('\n');  // what a template returns
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

bool NamedByCompiler(std::string_view symbol) {
  for (const std::string_view mark : {"_GLOBAL__N_", "_INTERNAL_", "Ul", "Ut", "__nv_"}) {
    if (symbol.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

const PlannedKernel* FindPlanned(const std::vector<PlannedKernel>& kernels,
                                 const std::string& symbol) {
  for (const PlannedKernel& kernel : kernels) {
    if (kernel.signature == symbol) return &kernel;
  }
  const PlannedKernel* found = nullptr;
  const std::string name = kernels.empty() ? "" : PlainName(symbol);
  for (const PlannedKernel& kernel : kernels) {
    if (PlainName(kernel.signature) != name) continue;
    if (found != nullptr) return nullptr;
    found = &kernel;
  }
  return found;
}

std::string MangledVariable(const std::string& qualified) {
  std::string parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = qualified.find("::", begin)) != std::string::npos; begin = end + 2) {
    parts += Part(std::string_view(qualified).substr(begin, end - begin));
  }
  if (begin == 0) return qualified;
  return "_ZN" + parts + Part(std::string_view(qualified).substr(begin)) + "E";
}

}  // namespace cupilot::capture
