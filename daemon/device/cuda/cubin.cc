#include "device/cuda/cubin.h"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace cupilot::device::cuda {
namespace {

// A value of the file; nullopt outside of it.
template <class T>
std::optional<T> ReadAt(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string TextAt(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size()) return "";
  const std::string_view rest = file.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

class Elf {
 public:
  static std::optional<Elf> Open(std::string_view file) {
    const auto header = ReadAt<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
      return std::nullopt;
    }
    Elf elf(file);
    for (unsigned i = 0; i < header->e_shnum; ++i) {
      const auto section = ReadAt<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) return std::nullopt;
      elf.sections_.push_back(*section);
    }
    elf.names_ = header->e_shstrndx;
    return elf;
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string Text(unsigned table, std::uint64_t offset) const {
    return table < sections_.size() ? TextAt(file_, sections_[table].sh_offset + offset) : "";
  }
  std::string NameOf(unsigned section) const {
    return section < sections_.size() ? Text(names_, sections_[section].sh_name) : "";
  }
  std::vector<Elf64_Sym> Symbols(const Elf64_Shdr& table) const {
    std::vector<Elf64_Sym> symbols;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = ReadAt<Elf64_Sym>(file_, table.sh_offset + at);
      if (!symbol) break;
      symbols.push_back(*symbol);
    }
    return symbols;
  }

 private:
  explicit Elf(std::string_view file) : file_(file) {}
  std::string_view file_;
  std::vector<Elf64_Shdr> sections_;
  unsigned names_ = 0;
};

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
  const auto elf = Elf::Open(cubin);
  if (!elf) return base::Fail(base::InvalidArgument("this is no cubin"));
  std::vector<CubinVariable> variables;
  for (const Elf64_Shdr& section : elf->sections()) {
    if (section.sh_type != SHT_SYMTAB) continue;
    for (const Elf64_Sym& symbol : elf->Symbols(section)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) continue;
      const std::string place = elf->NameOf(symbol.st_shndx);
      const bool constant = place.starts_with(".nv.constant");
      if (!constant && !place.starts_with(".nv.global")) continue;
      const std::string name = elf->Text(section.sh_link, symbol.st_name);
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
