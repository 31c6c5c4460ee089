#include "device/cuda/cubin.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/elf_image.h"

namespace cupilot::device::cuda {
namespace {

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : symbol;
}

// nvcc names an unnamed namespace _GLOBAL__N__<hash>_<file>_<hash>, and wraps variables of internal
// linkage into _INTERNAL_<the same>.
bool IsUnnamed(std::string_view component) {
  return component == "(anonymous namespace)" || component.starts_with("_GLOBAL__N") ||
         component.starts_with("_INTERNAL_");
}

}  // namespace

base::Result<std::vector<CubinVariable>> VariablesOf(std::string_view cubin) {
  const auto elf = base::ElfImage::Read(std::string(cubin));
  if (!elf) return base::Fail(base::InvalidArgument("this is no cubin"));
  std::vector<CubinVariable> variables;
  for (const Elf64_Shdr& section : elf->sections()) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= elf->sections().size()) continue;
    const Elf64_Shdr& names = elf->sections()[section.sh_link];
    for (const auto& symbol : elf->Array<Elf64_Sym>(section)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) continue;
      if (symbol.st_shndx >= elf->sections().size()) continue;
      const std::string_view place = elf->Name(elf->sections()[symbol.st_shndx]);
      const bool constant = place.starts_with(".nv.constant");
      if (!constant && !place.starts_with(".nv.global")) continue;
      const std::string name(elf->Text(names, symbol.st_name));
      // Texts of assert() and the like: no source can name them, and no driver need find them.
      if (name.starts_with("$") || name.starts_with("__unnamed_")) continue;
      variables.push_back(
          {name, QualifiedName(name), static_cast<std::int64_t>(symbol.st_size), constant});
    }
  }
  return variables;
}

std::string WithoutUnnamedNamespaces(const std::string& name) {
  std::string kept;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find("::", begin), name.size());
    const std::string component = name.substr(begin, end - begin);
    if (!IsUnnamed(component)) kept += (kept.empty() ? "" : "::") + component;
    begin = end + 2;
  }
  return kept;
}

std::string QualifiedName(const std::string& symbol) {
  const std::string text = Demangled(symbol);
  // The parameters begin at the first parenthesis outside of template arguments, the name behind
  // the last blank before it.
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t begin = 0, end = text.size();
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, kUnnamed.size(), kUnnamed) == 0) {
      i += kUnnamed.size() - 1;
    } else if (text[i] == '<') {
      ++depth;
    } else if (text[i] == '>') {
      --depth;
    } else if (depth == 0 && text[i] == ' ') {
      begin = i + 1;
    } else if (depth == 0 && text[i] == '(') {
      end = i;
      break;
    }
  }
  return WithoutUnnamedNamespaces(text.substr(begin, end - begin));
}

}  // namespace cupilot::device::cuda
