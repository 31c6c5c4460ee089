#include "capture/image_symbols.h"

#include <elf.h>

#include <cstring>

#include "capture/names.h"

namespace cupilot::capture {
namespace {

bool Inside(std::uint64_t offset, std::uint64_t count, std::uint64_t bytes) {
  return offset <= bytes && count <= bytes - offset;
}

}  // namespace

ImageSymbols::ImageSymbols(const Plan& plan) {
  for (const PlannedKernel& kernel : plan.kernels) {
    for (const PlannedGlobal& global : kernel.globals) symbols_[global.symbol];
  }
}

void ImageSymbols::Read(const char* image, std::size_t bytes) {
  Elf64_Ehdr head;
  if (image == nullptr || bytes < sizeof head) return;
  std::memcpy(&head, image, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_shentsize != sizeof(Elf64_Shdr) ||
      !Inside(head.e_shoff, std::uint64_t{head.e_shnum} * sizeof(Elf64_Shdr), bytes)) {
    return;
  }
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  std::memcpy(sections.data(), image + head.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    if (!Inside(section.sh_offset, section.sh_size, bytes) ||
        !Inside(strings.sh_offset, strings.sh_size, bytes)) {
      continue;
    }
    const std::string_view names(image + strings.sh_offset, strings.sh_size);
    for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, image + section.sh_offset + i * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_name >= names.size()) continue;
      std::string name(
          names.substr(symbol.st_name, names.find('\0', symbol.st_name) - symbol.st_name));
      const std::string qualified = QualifiedName(name);
      const std::lock_guard lock(mutex_);
      const auto at = symbols_.find(qualified);
      if (at != symbols_.end()) at->second.insert(std::move(name));
    }
  }
}

std::vector<std::string> ImageSymbols::Find(const std::string& qualified) const {
  const std::lock_guard lock(mutex_);
  const auto at = symbols_.find(qualified);
  if (at == symbols_.end()) return {};
  return {at->second.begin(), at->second.end()};
}

}  // namespace cupilot::capture
