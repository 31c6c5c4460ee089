#include "base/elf_image.h"

#include <cstring>

namespace cupilot::base {

std::optional<ElfImage> ElfImage::Read(std::string bytes) {
  ElfImage image(std::move(bytes));
  if (!image.ReadHeaders()) return std::nullopt;
  return image;
}

std::string_view ElfImage::Name(const Elf64_Shdr& section) const {
  if (header_.e_shstrndx >= sections_.size()) return {};
  return Text(sections_[header_.e_shstrndx], section.sh_name);
}

std::string_view ElfImage::Bytes(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return {};
  return Slice(section.sh_offset, section.sh_size).value_or(std::string_view());
}

std::string_view ElfImage::Text(const Elf64_Shdr& table, std::uint64_t offset) const {
  const std::string_view bytes = Bytes(table);
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::optional<std::string_view> ElfImage::Slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
  return std::string_view(bytes_).substr(offset, size);
}

bool ElfImage::ReadHeaders() {
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

}  // namespace cupilot::base
