#include "source/swap/elf_file.h"

#include <optional>

#include "base/elf_image.h"
#include "base/file.h"

namespace cupilot::source {
namespace {

base::Result<base::ElfImage> Open(const std::string& path) {
  TRY_ASSIGN(std::string bytes, base::ReadFile(path));
  std::optional<base::ElfImage> image = base::ElfImage::Read(std::move(bytes));
  if (!image) return base::Fail(base::Unsupported(path + " is not a 64-bit ELF file"));
  return *std::move(image);
}

// Whether the relocations of `section` name a symbol of `wanted`.
bool HasRelocation(const base::ElfImage& file, const Elf64_Shdr& section,
                   const std::string& symbol) {
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
  TRY_ASSIGN(const base::ElfImage file, Open(path));
  std::string bytes;
  for (const Elf64_Shdr& section : file.sections()) {
    if (file.Name(section) == name) bytes += file.Bytes(section);
  }
  return bytes;
}

base::Result<bool> ObjectRefersTo(const std::string& path, const std::string& symbol) {
  TRY_ASSIGN(const base::ElfImage file, Open(path));
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
