#include "source/swap/elf_file.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace cupilot::source {
namespace {

class ElfFile {
 public:
  static base::Result<ElfFile> Open(const std::string& path) {
    TRY_ASSIGN(std::string bytes, base::ReadFile(path));
    ElfFile file(std::move(bytes));
    if (!file.ReadHeaders()) {
      return base::Fail(base::Unsupported(path + " is not a 64-bit ELF file"));
    }
    return file;
  }

  bool relocatable() const { return header_.e_type == ET_REL; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  std::string_view Name(const Elf64_Shdr& section) const {
    if (header_.e_shstrndx >= sections_.size()) return {};
    return Text(sections_[header_.e_shstrndx], section.sh_name);
  }

  std::string_view Bytes(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    return Slice(section.sh_offset, section.sh_size).value_or(std::string_view());
  }

  // A zero-terminated string of a string table.
  std::string_view Text(const Elf64_Shdr& table, std::uint64_t offset) const {
    const std::string_view bytes = Bytes(table);
    if (offset >= bytes.size()) return {};
    const std::string_view rest = bytes.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

  template <class T>
  std::vector<T> Array(const Elf64_Shdr& section) const {
    const std::string_view bytes = Bytes(section);
    std::vector<T> values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      bytes.copy(reinterpret_cast<char*>(&values[i]), sizeof(T), i * sizeof(T));
    }
    return values;
  }

 private:
  explicit ElfFile(std::string bytes) : bytes_(std::move(bytes)) {}

  std::optional<std::string_view> Slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
    return std::string_view(bytes_).substr(offset, size);
  }

  bool ReadHeaders() {
    const auto head = Slice(0, sizeof header_);
    if (!head) return false;
    std::memcpy(&header_, head->data(), sizeof header_);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return false;
    }
    std::uint64_t count = header_.e_shnum;
    if (count == 0) {  // more sections than the header can say
      const auto first = Slice(header_.e_shoff, sizeof(Elf64_Shdr));
      if (!first) return false;
      Elf64_Shdr section;
      std::memcpy(&section, first->data(), sizeof section);
      count = section.sh_size;
    }
    if (count > bytes_.size() / sizeof(Elf64_Shdr)) return false;
    const auto table = Slice(header_.e_shoff, count * sizeof(Elf64_Shdr));
    if (!table) return false;
    sections_.resize(count);
    if (count != 0) std::memcpy(sections_.data(), table->data(), table->size());
    return true;
  }

  std::string bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

// Whether the relocations of `section` name a symbol of `wanted`.
bool HasRelocation(const ElfFile& file, const Elf64_Shdr& section, const std::string& symbol) {
  if (section.sh_link >= file.sections().size()) return false;
  const Elf64_Shdr& table = file.sections()[section.sh_link];
  if (table.sh_type != SHT_SYMTAB || table.sh_link >= file.sections().size()) return false;
  const Elf64_Shdr& names = file.sections()[table.sh_link];
  const auto symbols = file.Array<Elf64_Sym>(table);
  for (const Elf64_Rela& relocation : file.Array<Elf64_Rela>(section)) {
    const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
    if (index < symbols.size() && file.Text(names, symbols[index].st_name) == symbol) return true;
  }
  return false;
}

}  // namespace

base::Result<std::string> ElfSection(const std::string& path, const std::string& name) {
  TRY_ASSIGN(const ElfFile file, ElfFile::Open(path));
  std::string bytes;
  for (const Elf64_Shdr& section : file.sections()) {
    if (file.Name(section) == name) bytes += file.Bytes(section);
  }
  return bytes;
}

base::Result<bool> ObjectRefersTo(const std::string& path, const std::string& symbol) {
  TRY_ASSIGN(const ElfFile file, ElfFile::Open(path));
  if (!file.relocatable()) {
    return base::Fail(base::Unsupported(path + " is not a relocatable object"));
  }
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type != SHT_RELA || section.sh_info >= file.sections().size()) continue;
    if ((file.sections()[section.sh_info].sh_flags & SHF_EXECINSTR) == 0) continue;
    if (HasRelocation(file, section, symbol)) return true;
  }
  return false;
}

}  // namespace cupilot::source
