#include "source/swap/kernel_code.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/elf_image.h"
#include "base/hash.h"
#include "source/swap/device_text.h"

namespace cupilot::source {
namespace {

using Reference = KernelCode::Reference;

constexpr std::string_view kText = ".text.";
constexpr std::string_view kConstant = ".nv.constant";
constexpr const char* kOwn = "itself";
constexpr std::size_t kInstruction = 16;  // bytes, since sm_70
constexpr int kFirstOfSuch = 70;
constexpr std::size_t kSlot = 8;  // of the table of addresses
constexpr std::size_t kMostShown = 40;

struct Relocation {
  std::uint64_t offset = 0;
  std::uint64_t type = 0;
  std::int64_t addend = 0;
  std::size_t symbol = 0;
};

std::string Demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "s" would be a type
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : symbol;
}

// "__nv_static_22__6ec705a7_5_c3_cu_taps_name", which relocatable code has for names of internal
// linkage: the number is the length of the file's part.
std::string WithoutStaticPrefix(const std::string& symbol) {
  constexpr std::string_view kPrefix = "__nv_static_";
  if (!symbol.starts_with(kPrefix)) return symbol;
  std::size_t at = kPrefix.size(), length = 0;
  for (; at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at])) != 0; ++at) {
    length = length * 10 + static_cast<std::size_t>(symbol[at] - '0');
    if (length > symbol.size()) return symbol;
  }
  at += 1 + length + 1;  // "_", the file's part, "_"
  return at < symbol.size() ? symbol.substr(at) : symbol;
}

// "table" of "_ZZ5scalePfE5table": a variable of a function has the function's parameters in its
// name, which are others where a template became an ordinary kernel.
std::string WithoutFunction(const std::string& symbol) {
  if (!symbol.starts_with("_ZZ")) return symbol;
  for (std::size_t at = 3; at < symbol.size(); ++at) {
    if (symbol[at] != 'E') continue;
    char* end = nullptr;
    const unsigned long length = std::strtoul(symbol.c_str() + at + 1, &end, 10);
    const auto name = static_cast<std::size_t>(end - symbol.c_str());
    if (name > at + 1 && length > 0 && length <= symbol.size() - name) {
      const std::size_t behind = name + length;
      if (behind == symbol.size() || symbol[behind] == '_') return symbol.substr(name);
    }
  }
  return symbol;
}

std::string PlainName(const std::string& symbol) {
  return WithoutFunction(StableName(WithoutStaticPrefix(symbol)));
}

// Literals and what the compiler makes of __func__ are numbered through a file.
bool IsNumbered(const std::string& symbol) {
  return symbol.starts_with("$") || symbol.starts_with("__unnamed_");
}

std::string Shown(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes.substr(0, bytes.find('\0'))) {
    if (text.size() > kMostShown) return text + "...\"";
    if (c == '\n') {
      text += "\\n";
    } else {
      text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
    }
  }
  return text + "\"";
}

class Image {
 public:
  Image(base::ElfImage elf, int architecture) : elf_(std::move(elf)), architecture_(architecture) {
    for (const Elf64_Shdr& section : elf_.sections()) {
      if (section.sh_type == SHT_SYMTAB && section.sh_link < elf_.sections().size()) {
        symbols_ = elf_.Array<Elf64_Sym>(section);
        names_ = &elf_.sections()[section.sh_link];
      }
      if (section.sh_type == SHT_RELA) {
        for (const auto& one : elf_.Array<Elf64_Rela>(section)) {
          Add(section.sh_info, one.r_offset, one.r_info, one.r_addend);
        }
      } else if (section.sh_type == SHT_REL) {
        for (const auto& one : elf_.Array<Elf64_Rel>(section)) {
          Add(section.sh_info, one.r_offset, one.r_info, 0);
        }
      }
    }
    for (auto& [section, all] : relocations_) {
      std::sort(all.begin(), all.end(), [](const Relocation& a, const Relocation& b) {
        return std::tie(a.offset, a.type) < std::tie(b.offset, b.type);
      });
    }
    addresses_ = SectionNamed(".nv.constant4");
  }

  // Sections with the code of kernels: functions that are called have some, too, but no parameters.
  std::vector<std::size_t> Kernels(const std::function<bool(const std::string&)>& names) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < elf_.sections().size(); ++i) {
      const std::string name(NameOf(i));
      if (!name.starts_with(kText)) continue;
      const std::string kernel = name.substr(kText.size());
      if (names(WithoutStaticPrefix(kernel)) && SectionNamed(".nv.constant0." + kernel) != 0) {
        found.push_back(i);
      }
    }
    return found;
  }

  KernelCode Read(std::size_t section) {
    own_ = section;
    const std::string kernel(NameOf(section).substr(kText.size()));
    KernelCode code;
    code.registers = RegistersOf(section);
    if (!elf_.relocatable()) code.shared_bytes = SizeOf(".nv.shared." + kernel);
    code.parameter_bytes = SizeOf(".nv.constant0." + kernel);
    code.instructions = TakeCode(section, code.references);
    // Literals that do not fit into instructions.
    for (char bank = '1'; bank <= '9'; ++bank) {
      const std::string name = std::string(kConstant) + bank + "." + kernel;
      if (const std::size_t at = SectionNamed(name); at != 0) {
        code.references.push_back(
            {0, {}, name.substr(0, kConstant.size() + 1), BytesOf(at), "its constants"});
      }
    }
    AddCallees(section, code.references);
    for (const std::size_t shared : shared_) {
      code.shared_bytes += static_cast<std::int64_t>(symbols_[shared].st_size);
    }
    if (!elf_.relocatable()) AddConstants(code.constants);
    return code;
  }

 private:
  void Add(std::size_t section, std::uint64_t offset, std::uint64_t info, std::int64_t addend) {
    relocations_[section].push_back(
        {offset, ELF64_R_TYPE(info), addend, static_cast<std::size_t>(ELF64_R_SYM(info))});
  }

  std::string_view NameOf(std::size_t section) const {
    return section < elf_.sections().size() ? elf_.Name(elf_.sections()[section])
                                            : std::string_view();
  }
  std::string SymbolName(std::size_t symbol) const {
    return names_ == nullptr ? std::string()
                             : std::string(elf_.Text(*names_, symbols_[symbol].st_name));
  }
  // 0, which no section of interest has: there is none.
  std::size_t SectionNamed(const std::string& name) const {
    for (std::size_t i = 1; i < elf_.sections().size(); ++i) {
      if (NameOf(i) == name) return i;
    }
    return 0;
  }
  std::int64_t SizeOf(const std::string& name) const {
    const std::size_t at = SectionNamed(name);
    return at == 0 ? 0 : static_cast<std::int64_t>(elf_.sections()[at].sh_size);
  }

  // The second: of templates, before the device linker.
  bool IsShared(std::size_t section) const {
    return NameOf(section).starts_with(".nv.shared") ||
           NameOf(section).starts_with(".nv_debug.shared");
  }

  // What is not initialised has no bytes, whatever type its section has.
  bool IsEmpty(std::size_t section) const {
    const std::string_view name = NameOf(section);
    return IsShared(section) || name.starts_with(".nv.local") ||
           (name.starts_with(".nv.global") && !name.starts_with(".nv.global.init"));
  }

  // Newer images say it in .nv.info, older ones beside the section.
  int RegistersOf(std::size_t section) const {
    constexpr unsigned char kSized = 4, kRegisters = 0x2f;
    const std::size_t info = SectionNamed(".nv.info");
    const std::string_view bytes =
        info == 0 ? std::string_view() : elf_.Bytes(elf_.sections()[info]);
    for (std::size_t at = 0; at + 4 <= bytes.size();) {
      const auto format = static_cast<unsigned char>(bytes[at]);
      const auto attribute = static_cast<unsigned char>(bytes[at + 1]);
      std::uint16_t size = 0;
      bytes.copy(reinterpret_cast<char*>(&size), sizeof size, at + 2);
      if (format != kSized) size = 0;  // the value is in the two bytes
      if (attribute == kRegisters && size == 8 && at + 12 <= bytes.size()) {
        std::uint32_t values[2];
        bytes.copy(reinterpret_cast<char*>(values), sizeof values, at + 4);
        if (values[0] < symbols_.size() && symbols_[values[0]].st_shndx == section &&
            SymbolName(values[0]) == NameOf(section).substr(kText.size())) {
          return static_cast<int>(values[1]);
        }
      }
      at += 4 + std::size_t{size};
    }
    return static_cast<int>(elf_.sections()[section].sh_info >> 24);
  }

  // Where in the table of addresses the instruction at `at` reads, and in which instruction the
  // compiler has put that. Nothing: it reads none. The encoding is the same since sm_70.
  struct AddressUse {
    std::uint64_t offset = 0;
    std::size_t in = 0;
    std::uint64_t bits = 0;  // that hold it
  };
  std::optional<AddressUse> AddressRead(const std::string& code, std::size_t at) const {
    const std::uint64_t low = WordAt(code, at);
    // An operand in a constant bank: the third or the second source (LDC, ULDC).
    const std::uint64_t form = (low >> 9) & 7, bank = (low >> 54) & 31;
    if (architecture_ < kFirstOfSuch || addresses_ == 0 || bank != 4) return std::nullopt;
    if (form != 3 && form != 5) return std::nullopt;
    constexpr std::uint64_t kUniformLoad = 0x7ac, kLoad = 0xb82, kNoRegister = 0xff;
    constexpr std::uint64_t kOffsetBits = 0x1ffffULL << 37;
    // Since sm_100 an offset has a bit more there.
    if (OpcodeOf(low) == kUniformLoad) return AddressUse{(low >> 37) & 0x1ffff, at, kOffsetBits};
    const std::uint64_t offset = (low >> 38) & 0xffff, index = (low >> 24) & 0xff;
    if (OpcodeOf(low) != kLoad || index == kNoRegister) return AddressUse{offset, at, kOffsetBits};
    // The address of a function that is called: a move of a number into the register comes before.
    constexpr std::uint64_t kMove = 0x802;
    for (std::size_t before = at; before >= kInstruction;) {
      before -= kInstruction;
      const std::uint64_t move = WordAt(code, before);
      if (((move >> 16) & 0xff) != index) continue;
      if (OpcodeOf(move) != kMove) return std::nullopt;
      return AddressUse{offset + (move >> 32), before, 0xffffffffULL << 32};
    }
    return std::nullopt;
  }

  static std::uint64_t OpcodeOf(std::uint64_t low) { return low & 0xfff; }
  static std::uint64_t WordAt(const std::string& code, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, code.data() + at, sizeof word);
    return word;
  }

  const Relocation* AddressAt(std::uint64_t slot) const {
    const auto all = relocations_.find(addresses_);
    if (all == relocations_.end()) return nullptr;
    for (const Relocation& one : all->second) {
      if (one.offset == slot) return &one;
    }
    return nullptr;
  }

  // Hash of the section's code; what it names goes to `references`.
  std::string TakeCode(std::size_t section, std::vector<Reference>& references) {
    const std::string code(elf_.Bytes(elf_.sections()[section]));
    std::string without = code;
    for (std::size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
      const std::optional<AddressUse> read = AddressRead(code, at);
      const Relocation* address = read ? AddressAt(read->offset / kSlot * kSlot) : nullptr;
      if (address == nullptr) continue;
      const std::uint64_t low = WordAt(without, read->in) & ~read->bits;
      std::memcpy(without.data() + read->in, &low, sizeof low);
      Relocation named = *address;
      named.offset = at;
      references.push_back(Describe(named, "bank 4, " + std::to_string(read->offset % kSlot)));
    }
    if (const auto all = relocations_.find(section); all != relocations_.end()) {
      for (const Relocation& one : all->second) references.push_back(Describe(one, ""));
    }
    std::stable_sort(references.begin(), references.end(),
                     [](const Reference& a, const Reference& b) { return a.at < b.at; });
    return base::HashHex(without);
  }

  Reference Describe(const Relocation& one, const std::string& where) {
    Reference reference;
    reference.at = one.offset;
    reference.how = where + " " + std::to_string(one.type) + "+" + std::to_string(one.addend);
    if (one.symbol >= symbols_.size()) return reference;
    DescribeSymbol(one.symbol, reference);
    return reference;
  }

  void DescribeSymbol(std::size_t index, Reference& reference) {
    const Elf64_Sym& symbol = symbols_[index];
    const std::string name = SymbolName(index);
    const std::size_t section = symbol.st_shndx;
    if (section == SHN_UNDEF || section >= elf_.sections().size()) {
      reference.name = name;
      reference.words = "'" + Demangled(name) + "'";
      return;
    }
    if (section == own_) {
      reference.name = kOwn;
      reference.how += "+" + std::to_string(symbol.st_value);
      reference.words = kOwn;
    } else if (NameOf(section).starts_with(kText)) {
      reference.content = ContentOfFunction(section, symbol.st_value);
      reference.words = "the function '" + Demangled(PlainName(name)) + "'";
    } else if (IsShared(section)) {
      DescribeShared(index, reference);
    } else {
      DescribeVariable(index, reference);
    }
  }

  // Of a function that calls itself, also by way of others, its depth in the calls stands for it.
  std::string ContentOfFunction(std::size_t section, std::uint64_t value) {
    const auto open = std::find(open_.begin(), open_.end(), section);
    if (open != open_.end()) return "call " + std::to_string(open - open_.begin());
    if (const auto known = functions_.find(section); known != functions_.end()) {
      return known->second + "+" + std::to_string(value);
    }
    open_.push_back(section);
    std::vector<Reference> references;
    base::Hasher hasher;
    hasher.Add(TakeCode(section, references));
    open_.pop_back();
    for (const Reference& one : references) {
      hasher.Add(std::to_string(one.at)).Add(one.how).Add(one.name).Add(one.content);
    }
    const std::string hash = hasher.Hex();
    if (open_.empty()) functions_[section] = hash;
    return hash + "+" + std::to_string(value);
  }

  // Before the device linker has placed it: a template's has a section of its own, another one lies
  // in the kernel's. So it is known by the order in which the code names it.
  void DescribeShared(std::size_t index, Reference& reference) {
    auto known = std::find(shared_.begin(), shared_.end(), index);
    if (known == shared_.end()) known = shared_.insert(known, index);
    reference.content = "shared " + std::to_string(known - shared_.begin()) + ", " +
                        std::to_string(symbols_[index].st_size);
    reference.words = "its shared memory";
  }

  void DescribeVariable(std::size_t index, Reference& reference) {
    const Elf64_Sym& symbol = symbols_[index];
    const std::string name = SymbolName(index);
    const std::size_t section = symbol.st_shndx;
    const bool whole = ELF64_ST_TYPE(symbol.st_info) == STT_SECTION;
    const std::uint64_t size = whole ? elf_.sections()[section].sh_size : symbol.st_size;
    std::string_view bytes;
    if (!IsEmpty(section)) {
      bytes = elf_.Bytes(elf_.sections()[section]);
      bytes = bytes.substr(std::min<std::uint64_t>(whole ? 0 : symbol.st_value, bytes.size()));
      bytes = bytes.substr(0, size);
    }
    base::Hasher hasher;
    hasher.Add(NameOf(section)).Add(std::to_string(size)).Add(bytes);
    if (const auto all = relocations_.find(section); all != relocations_.end()) {
      AddAddressesIn(symbol, size, all->second, hasher);
    }
    reference.content = hasher.Hex();
    if (IsNumbered(name) || whole) {
      reference.words = "the text " + Shown(bytes);
    } else {
      reference.name = PlainName(name);
      reference.words = "the table '" + Demangled(reference.name) + "'";
    }
  }

  // Addresses among the initial bytes of a variable: what they lead to belongs to it.
  void AddAddressesIn(const Elf64_Sym& symbol, std::uint64_t size,
                      const std::vector<Relocation>& all, base::Hasher& hasher) {
    const auto own = static_cast<std::size_t>(&symbol - symbols_.data());
    if (std::find(open_variables_.begin(), open_variables_.end(), own) != open_variables_.end()) {
      return;
    }
    open_variables_.push_back(own);
    for (const Relocation& one : all) {
      if (one.offset < symbol.st_value || one.offset - symbol.st_value >= size) continue;
      Relocation inside = one;
      inside.offset -= symbol.st_value;
      const Reference named = Describe(inside, "");
      hasher.Add(std::to_string(named.at)).Add(named.how).Add(named.name).Add(named.content);
    }
    open_variables_.pop_back();
  }

  std::string BytesOf(std::size_t section) const {
    return base::HashHex(elf_.Bytes(elf_.sections()[section]));
  }

  // Calls that are not named by a relocation: of an image that is linked.
  void AddCallees(std::size_t section, std::vector<Reference>& references) {
    const std::size_t graph = SectionNamed(".nv.callgraph");
    if (graph == 0) return;
    std::vector<Reference> callees;
    const auto edges = elf_.Array<std::pair<std::uint32_t, std::uint32_t>>(elf_.sections()[graph]);
    for (const auto& [caller, callee] : edges) {
      if (caller == 0 || caller >= symbols_.size() || callee >= symbols_.size()) continue;
      if (symbols_[caller].st_shndx != section || symbols_[callee].st_shndx == section) continue;
      Reference& reference = callees.emplace_back();
      reference.how = "calls";
      DescribeSymbol(callee, reference);
    }
    std::sort(callees.begin(), callees.end(), [](const Reference& a, const Reference& b) {
      return std::tie(a.name, a.content) < std::tie(b.name, b.content);
    });
    references.insert(references.end(), callees.begin(), callees.end());
  }

  void AddConstants(std::vector<Reference>& constants) {
    const std::size_t bank = SectionNamed(".nv.constant3");
    for (std::size_t i = 0; bank != 0 && i < symbols_.size(); ++i) {
      if (symbols_[i].st_shndx != bank || symbols_[i].st_size == 0) continue;
      Reference& reference = constants.emplace_back();
      reference.at = symbols_[i].st_value;
      DescribeVariable(i, reference);
    }
  }

  const base::ElfImage elf_;
  const int architecture_;
  std::vector<Elf64_Sym> symbols_;
  const Elf64_Shdr* names_ = nullptr;
  std::map<std::size_t, std::vector<Relocation>> relocations_;  // by the section that they are in
  std::size_t addresses_ = 0;                                   // the table of constant bank 4
  std::size_t own_ = 0;
  std::vector<std::size_t> open_;                 // sections of functions that are being described
  std::vector<std::size_t> shared_;               // symbols, in the order in which they are named
  std::vector<std::size_t> open_variables_;       // likewise symbols
  std::map<std::size_t, std::string> functions_;  // what is known of them
};

std::string WhyReferencesDiffer(const std::vector<Reference>& object,
                                const std::vector<Reference>& ours) {
  for (std::size_t i = 0; i < std::min(object.size(), ours.size()); ++i) {
    const Reference &one = object[i], &other = ours[i];
    if (one.words != other.words) {
      return "names " + one.words + " where the one that is tuned names " + other.words;
    }
    if (one.content != other.content) {
      const bool code = one.words.starts_with("the function");
      return (code ? "calls another " : "reads other values of ") + one.words.substr(code ? 4 : 0);
    }
    if (one.name != other.name || one.how != other.how || one.at != other.at) {
      return "uses " + one.words + " in another way";
    }
  }
  if (object.size() > ours.size()) return "also names " + object[ours.size()].words;
  if (object.size() < ours.size()) return "does not name " + ours[object.size()].words;
  return {};
}

}  // namespace

base::Result<KernelCode> KernelCodeOf(
    std::string cubin, int architecture,
    const std::function<bool(const std::string& mangled)>& names) {
  auto elf = base::ElfImage::Read(std::move(cubin));
  if (!elf || !elf->is_device_code()) {
    return base::Fail(base::Unsupported("not a CUDA device image"));
  }
  Image image(*std::move(elf), architecture);
  const std::vector<std::size_t> kernels = image.Kernels(names);
  if (kernels.empty()) return base::Fail(base::NotFound("the image has no such kernel"));
  if (kernels.size() > 1) {
    return base::Fail(base::Unsupported("the image has several kernels of that name"));
  }
  return image.Read(kernels.front());
}

std::int64_t ConstantsBefore(const KernelCode& object, const KernelCode& ours) {
  std::int64_t before = 0;
  for (const Reference& one : ours.constants) {
    const auto same = std::find_if(object.constants.begin(), object.constants.end(),
                                   [&](const Reference& other) { return other.name == one.name; });
    if (same == object.constants.end()) return 0;
    const auto moved = static_cast<std::int64_t>(same->at) - static_cast<std::int64_t>(one.at);
    if (moved <= 0 || (before != 0 && moved != before)) return 0;
    before = moved;
  }
  return before;
}

std::string WhyCodeDiffers(const KernelCode& object, const KernelCode& ours) {
  const auto numbers = [](const char* what, std::int64_t one, std::int64_t other, const char* of) {
    return std::string(what) + " " + std::to_string(one) + " " + of + ", the one that is tuned " +
           std::to_string(other);
  };
  if (object.parameter_bytes != ours.parameter_bytes) {
    return numbers("has parameters of", object.parameter_bytes, ours.parameter_bytes, "bytes");
  }
  if (object.registers != ours.registers) {
    return numbers("uses", object.registers, ours.registers, "registers");
  }
  if (object.shared_bytes != ours.shared_bytes) {
    return numbers("uses", object.shared_bytes, ours.shared_bytes, "bytes of shared memory");
  }
  if (object.instructions != ours.instructions) {
    return "has other instructions than the one that is tuned";
  }
  if (std::string why = WhyReferencesDiffer(object.references, ours.references); !why.empty()) {
    return why;
  }
  // Every variable that our code reads must stand there; of others the object may have more.
  for (const Reference& one : ours.constants) {
    const auto same = std::find_if(
        object.constants.begin(), object.constants.end(),
        [&](const Reference& other) { return other.at == one.at && other.name == one.name; });
    if (same == object.constants.end()) return "reads constants that lie in another order";
    if (same->content != one.content) return "reads other values of " + one.words;
  }
  return {};
}

}  // namespace cupilot::source
