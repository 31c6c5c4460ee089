// A 64-bit little-endian ELF file in memory, of which we read sections, symbols and relocations.
// Every offset is checked, so any bytes may come.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::base {

class ElfImage {
 public:
  // Nothing for what is no such file. The bytes are the image's own.
  static std::optional<ElfImage> Read(std::string bytes);

  bool relocatable() const { return header_.e_type == ET_REL; }
  bool is_device_code() const { return header_.e_machine == kMachineCuda; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  std::string_view Name(const Elf64_Shdr& section) const;
  // Empty for a section that holds none.
  std::string_view Bytes(const Elf64_Shdr& section) const;
  // A zero-terminated string of a string table.
  std::string_view Text(const Elf64_Shdr& table, std::uint64_t offset) const;

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
  static constexpr Elf64_Half kMachineCuda = 190;

  explicit ElfImage(std::string bytes) : bytes_(std::move(bytes)) {}
  std::optional<std::string_view> Slice(std::uint64_t offset, std::uint64_t size) const;
  bool ReadHeaders();

  std::string bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace cupilot::base
