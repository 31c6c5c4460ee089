#include "source/swap/device_text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>

#include "base/elf_image.h"
#include "base/file.h"
#include "base/hash.h"

namespace cupilot::source {
namespace {

// Of objects, of relocatable device code, and of what the device linker wrote.
constexpr const char* kFatSections[] = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::string_view kTextPrefix = ".text.";
constexpr std::string_view kUnnamed = "_GLOBAL__N_";
constexpr std::string_view kInternal = "_INTERNAL_";

base::Result<TextHashes> HashesOf(std::string cubin) {
  const std::optional<base::ElfImage> image = base::ElfImage::Read(std::move(cubin));
  if (!image || !image->is_device_code()) {
    return base::Fail(base::Unsupported("not a CUDA device image"));
  }
  TextHashes hashes;
  for (const Elf64_Shdr& section : image->sections()) {
    const std::string_view name = image->Name(section);
    if (section.sh_type != SHT_PROGBITS || !name.starts_with(kTextPrefix)) continue;
    hashes.emplace_back(name.substr(kTextPrefix.size()), base::HashHex(image->Bytes(section)));
  }
  return hashes;
}

std::size_t BehindDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// Whether digits behind this are a literal's ("Li300E"), a substitution's ("S1_", "T2_") or an
// array's ("A8_"): not the length of a name.
bool IsNumber(std::string_view before) {
  if (before.empty()) return false;
  const char last = before.back();
  if (last == 'S' || last == 'T' || last == 'A') return true;
  return before.size() >= 2 && before[before.size() - 2] == 'L' &&
         std::islower(static_cast<unsigned char>(last)) != 0;
}

}  // namespace

base::Result<TextHashes> TextHashesOfCubin(std::span<const std::byte> cubin) {
  return HashesOf(std::string(reinterpret_cast<const char*>(cubin.data()), cubin.size()));
}

base::Result<std::string> DataHashOfCubin(std::span<const std::byte> cubin) {
  const std::optional<base::ElfImage> image =
      base::ElfImage::Read(std::string(reinterpret_cast<const char*>(cubin.data()), cubin.size()));
  if (!image || !image->is_device_code()) {
    return base::Fail(base::Unsupported("not a CUDA device image"));
  }
  // Names hold the variant's namespace, and the order of sections follows them.
  std::vector<std::string> parts;
  for (const Elf64_Shdr& section : image->sections()) {
    const std::string_view name = image->Name(section);
    const auto is = [name](std::string_view prefix) { return name.starts_with(prefix); };
    if (is(".nv.shared.")) {
      parts.push_back("shared " + std::to_string(section.sh_size));
    } else if (is(".nv.constant") || is(".nv.global")) {
      const std::string_view kind = name.substr(0, name.find('.', 4));
      parts.push_back(std::string(kind) + " " + std::to_string(section.sh_size) + " " +
                      base::HashHex(image->Bytes(section)));
    }
  }
  std::sort(parts.begin(), parts.end());
  base::Hasher hasher;
  for (const std::string& part : parts) hasher.Add(part);
  return hasher.Hex();
}

base::Result<std::vector<FatEntry>> FatEntriesOf(const std::string& path, bool with_ptx) {
  TRY_ASSIGN(std::string bytes, base::ReadFile(path));
  const std::optional<base::ElfImage> file = base::ElfImage::Read(std::move(bytes));
  if (!file) return base::Fail(base::Unsupported(path + " is not a 64-bit ELF file"));
  std::vector<FatEntry> all;
  for (const Elf64_Shdr& section : file->sections()) {
    const std::string_view name = file->Name(section);
    if (name != kFatSections[0] && name != kFatSections[1]) continue;
    auto entries = ReadFatBinary(file->Bytes(section), with_ptx);
    if (!entries) return base::Fail(entries.error().In(path));
    std::move(entries->begin(), entries->end(), std::back_inserter(all));
  }
  return all;
}

base::Result<std::vector<DeviceImage>> DeviceImagesOf(const std::string& path) {
  TRY_ASSIGN(std::vector<FatEntry> entries, FatEntriesOf(path));
  std::vector<DeviceImage> images;
  for (FatEntry& entry : entries) {
    if (entry.kind != FatEntry::Kind::kMachineCode) continue;
    auto hashes = HashesOf(std::move(entry.bytes));
    if (!hashes) return base::Fail(hashes.error().In(path));
    images.push_back({entry.architecture, *std::move(hashes)});
  }
  return images;
}

// "54_GLOBAL__N__1c2d..." (its length, then the name) becomes "12_GLOBAL__N_1", which is what other
// compilers write; "30_INTERNAL_...", in which nvcc puts what is internal to a file, goes.
std::string StableName(const std::string& mangled) {
  std::string out;
  std::size_t name_end = 0;  // behind the last name that was copied
  for (std::size_t at = 0; at < mangled.size();) {
    const std::size_t digits = BehindDigits(mangled, at);
    std::size_t length = 0;
    for (std::size_t i = at; i < digits && length < mangled.size(); ++i) {
      length = length * 10 + static_cast<std::size_t>(mangled[i] - '0');
    }
    const bool name = digits != at && length <= mangled.size() - digits &&
                      !IsNumber(std::string_view(mangled).substr(name_end, at - name_end));
    if (!name) {
      out += mangled.substr(at, std::max(digits, at + 1) - at);
      at = std::max(digits, at + 1);
      continue;
    }
    const std::string text = mangled.substr(digits, length);
    if (text.starts_with(kUnnamed)) {
      out += "12_GLOBAL__N_1";
    } else if (!text.starts_with(kInternal)) {
      out += mangled.substr(at, digits - at) + text;
    }
    at = name_end = digits + length;
  }
  return out;
}

bool IsSameName(const std::string& one, const std::string& other) {
  const auto shown = [](const std::string& mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    std::string text = status == 0 && demangled ? demangled.get() : mangled;
    for (std::size_t at = 0; (at = text.find(kInternal, at)) != std::string::npos;) {
      const std::size_t end = text.find("::", at);
      if (end == std::string::npos) break;
      text.erase(at, end + 2 - at);
    }
    return text;
  };
  return shown(one) == shown(other);
}

std::string HashIn(const std::vector<DeviceImage>& images, int architecture,
                   const std::string& mangled) {
  const std::string wanted = StableName(mangled);
  std::string found;
  for (const DeviceImage& image : images) {
    if (image.architecture != architecture) continue;
    for (const auto& [name, hash] : image.kernels) {
      if (StableName(name) != wanted) continue;
      if (!found.empty() && found != hash) return {};
      found = hash;
    }
  }
  return found;
}

std::string TextOfVariant(const std::vector<DeviceImage>& images, int architecture,
                          const std::string& variant_namespace) {
  const std::string part = std::to_string(variant_namespace.size()) + variant_namespace;
  std::vector<std::string> found;
  for (const DeviceImage& image : images) {
    if (image.architecture != architecture) continue;
    for (const auto& [name, hash] : image.kernels) {
      if (name.find(part) != std::string::npos) found.push_back(hash);
    }
  }
  if (found.size() <= 1) return found.empty() ? std::string() : found.front();
  std::sort(found.begin(), found.end());
  base::Hasher hasher;
  for (const std::string& hash : found) hasher.Add(hash);
  return hasher.Hex();
}

}  // namespace cupilot::source
