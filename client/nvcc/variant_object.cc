#include "client/nvcc/variant_object.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/elf_image.h"
#include "base/file.h"

namespace cupilot::nvcc {
namespace {

// What device code of CUDA may call of the C library: memory, printf, malloc, assert.
constexpr std::array<std::string_view, 42> kLibrary = {"memcpy",
                                                       "memmove",
                                                       "memset",
                                                       "memcmp",
                                                       "__memcpy_chk",
                                                       "__memmove_chk",
                                                       "__memset_chk",
                                                       "printf",
                                                       "__printf_chk",
                                                       "vprintf",
                                                       "puts",
                                                       "putchar",
                                                       "malloc",
                                                       "free",
                                                       "calloc",
                                                       "abort",
                                                       "clock",
                                                       "clock_gettime",
                                                       "__cxa_guard_acquire",
                                                       "__cxa_guard_release",
                                                       "__cxa_guard_abort",
                                                       "abs",
                                                       "labs",
                                                       "llabs",
                                                       "__assert_fail",
                                                       "_Znwm",
                                                       "_Znam",
                                                       "_ZdlPv",
                                                       "_ZdaPv",
                                                       "_ZdlPvm",
                                                       "_ZdaPvm",
                                                       "_ZSt9terminatev",
                                                       "_Unwind_Resume",
                                                       "__gxx_personality_v0",
                                                       "__tls_get_addr",
                                                       "__stack_chk_fail",
                                                       "strlen",
                                                       "__vprintf_chk",
                                                       "__cxa_throw_bad_array_new_length",
                                                       "lgammaf_r",
                                                       "lgammal_r",
                                                       "_GLOBAL_OFFSET_TABLE_"};

// Without the suffixes of types: sqrt, sqrtf, sqrtl. C's mathematics and the C library's own.
constexpr std::array<std::string_view, 82> kMathematics = {
    "acos",         "acosh",       "asin",     "asinh",     "atan",      "atan2",    "atanh",
    "cbrt",         "ceil",        "copysign", "cos",       "cosh",      "erf",      "erfc",
    "exp",          "exp10",       "exp2",     "expm1",     "fabs",      "fdim",     "floor",
    "fma",          "fmax",        "fmin",     "fmod",      "frexp",     "hypot",    "ilogb",
    "j0",           "j1",          "jn",       "ldexp",     "lgamma",    "lgamma_r", "llrint",
    "llround",      "log",         "log10",    "log1p",     "log2",      "logb",     "lrint",
    "lround",       "modf",        "nan",      "nearbyint", "nextafter", "pow",      "pow10",
    "remainder",    "remquo",      "rint",     "round",     "roundeven", "scalb",    "scalbln",
    "scalbn",       "significand", "sin",      "sincos",    "sinh",      "sqrt",     "tan",
    "tanh",         "tgamma",      "trunc",    "y0",        "y1",        "yn",       "nexttoward",
    "finite",       "isnan",       "isinf",    "__finite",  "__isnan",   "__isinf",  "__signbit",
    "__fpclassify", "drem",        "gamma",    "logp1",     "gamma_r"};

template <std::size_t N>
bool Among(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsMathematics(std::string_view name) {
  // -ffast-math lets GCC call __exp_finite, __powf_finite.
  constexpr std::string_view kFinite = "_finite";
  if (name.starts_with("__") && name.ends_with(kFinite)) {
    name = name.substr(2, name.size() - 2 - kFinite.size());
  }
  if (Among(kMathematics, name)) return true;
  return !name.empty() && (name.back() == 'f' || name.back() == 'l') &&
         Among(kMathematics, name.substr(0, name.size() - 1));
}

// Vectors of the C library's mathematics: _ZGVdN4v_exp.
bool IsVectorMathematics(std::string_view name) {
  if (!name.starts_with("_ZGV")) return false;
  const std::size_t begin = name.rfind('_');
  return begin != std::string_view::npos && IsMathematics(name.substr(begin + 1));
}

// Arithmetic that the processor lacks: __divti3, __popcountdi2, __floatuntidf, __extendhfsf2.
bool IsArithmetic(std::string_view name) {
  static constexpr std::array<std::string_view, 30> kBegins = {
      "__add",    "__sub",   "__mul",   "__div",    "__udiv",     "__mod",  "__umod", "__neg",
      "__ash",    "__lsh",   "__cmp",   "__ucmp",   "__popcount", "__clz",  "__ctz",  "__ffs",
      "__parity", "__eq",    "__ne",    "__lt",     "__le",       "__gt",   "__ge",   "__bswap",
      "__fix",    "__float", "__trunc", "__extend", "__pow",      "__unord"};
  static constexpr std::array<std::string_view, 13> kTypes = {
      "si", "di", "ti", "sf", "df", "xf", "tf", "hf", "bf", "sc", "dc", "xc", "tc"};
  const bool begins = std::any_of(kBegins.begin(), kBegins.end(),
                                  [&](std::string_view begin) { return name.starts_with(begin); });
  return begins && name.find("_chk") == std::string_view::npos &&
         std::any_of(kTypes.begin(), kTypes.end(), [&](std::string_view type) {
           return name.find(type, 4) != std::string_view::npos;
         });
}

bool MayBeCalled(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("__cuda") ||
         name.starts_with("cupilot_host_") || name.starts_with("cupilot_hook_") ||
         Among(kLibrary, name) || IsMathematics(name) || IsVectorMathematics(name) ||
         IsArithmetic(name);
}

// "24cupilot_" and 16 hexadecimal digits: a namespace within a mangled name.
bool IsOfVariant(std::string_view name) {
  constexpr std::string_view kBegin = "24cupilot_";
  for (std::size_t at = name.find(kBegin); at != std::string_view::npos;
       at = name.find(kBegin, at + 1)) {
    if (IsVariantNamespace(name.substr(at + 2, 24))) return true;
  }
  return false;
}

bool RunsAtStartOrExit(std::string_view section) {
  for (const std::string_view name :
       {".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors"}) {
    if (section == name || (section.starts_with(name) && section[name.size()] == '.')) return true;
  }
  return section == ".init" || section == ".fini";
}

// What compilers make of the initialisers of a whole text, whose names are of no namespace.
bool Initialises(std::string_view name) {
  return name.starts_with("_GLOBAL__") ||
         name.find("__static_initialization_and_destruction") != std::string_view::npos ||
         name.starts_with("__cxx_global_");
}

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

class Object {
 public:
  Object(const base::ElfImage& file, VariantPlace place) : file_(file), place_(place) {}

  std::string Look() {
    for (const Elf64_Shdr& section : file_.sections()) {
      if (section.sh_type == SHT_SYMTAB) ReadSymbols(section);
    }
    if (!ifunc_.empty()) return Quoted(ifunc_) + " is chosen by code that runs at start";
    std::string why;
    for (const Elf64_Shdr& section : file_.sections()) {
      if (!why.empty()) break;
      if (place_ == VariantPlace::kCandidate && section.sh_size != 0 &&
          section.sh_type != SHT_RELA && section.sh_type != SHT_GROUP &&
          RunsAtStartOrExit(file_.Name(section))) {
        why = "it has code that runs at start or exit (" + std::string(file_.Name(section)) + ")";
      }
      if (section.sh_type == SHT_RELA) why = ReadRelocations(section);
    }
    if (!why.empty()) return why;
    for (const auto& [name, from] : called_) {
      if (!of_others_.contains(name)) {
        return (from.empty() ? "it" : Quoted(from)) + " refers to " + Quoted(name) +
               ", which device code cannot call";
      }
    }
    return "";
  }

 private:
  struct Symbol {
    std::uint64_t begin = 0, end = 0;
    std::string_view name;
  };

  void ReadSymbols(const Elf64_Shdr& table) {
    if (table.sh_link >= file_.sections().size()) return;
    const Elf64_Shdr& names = file_.sections()[table.sh_link];
    for (const Elf64_Sym& symbol : file_.Array<Elf64_Sym>(table)) {
      const std::string_view name = file_.Text(names, symbol.st_name);
      symbols_.push_back(symbol);
      names_.push_back(name);
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_GNU_IFUNC && (place_ == VariantPlace::kCandidate || IsOfVariant(name))) {
        ifunc_ = name;
      }
      if (type == STT_FUNC || type == STT_OBJECT || type == STT_TLS) {
        places_[symbol.st_shndx].push_back(
            {symbol.st_value, symbol.st_value + std::max<std::uint64_t>(1, symbol.st_size), name});
      }
    }
    for (auto& [section, symbols] : places_) {
      std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
      });
    }
  }

  // What lies there; empty: nothing with a name.
  std::string_view NameAt(std::uint64_t section, std::uint64_t offset) const {
    const auto found = places_.find(section);
    if (found == places_.end()) return {};
    const auto behind =
        std::upper_bound(found->second.begin(), found->second.end(), offset,
                         [](std::uint64_t at, const Symbol& symbol) { return at < symbol.begin; });
    if (behind == found->second.begin() || offset >= std::prev(behind)->end) return {};
    return std::prev(behind)->name;
  }

  std::string_view NameOf(std::uint64_t index, std::int64_t addend) const {
    if (index >= symbols_.size()) return {};
    const Elf64_Sym& symbol = symbols_[index];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_SECTION) return names_[index];
    // Relative to the instruction a place is four bytes on.
    const auto at = static_cast<std::uint64_t>(addend);
    const std::string_view name = NameAt(symbol.st_shndx, at + 4);
    return name.empty() ? NameAt(symbol.st_shndx, at) : name;
  }

  std::string ReadRelocations(const Elf64_Shdr& table) {
    if (table.sh_info >= file_.sections().size()) return "";
    const Elf64_Shdr& section = file_.sections()[table.sh_info];
    // Not what debuggers and unwinders read.
    if ((section.sh_flags & SHF_ALLOC) == 0 || file_.Name(section) == ".eh_frame") return "";
    const bool at_start = RunsAtStartOrExit(file_.Name(section));
    for (const Elf64_Rela& relocation : file_.Array<Elf64_Rela>(table)) {
      const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
      if (index >= symbols_.size()) return "it is damaged";
      const std::string_view from = NameAt(table.sh_info, relocation.r_offset);
      const std::string_view to = NameOf(index, relocation.r_addend);
      if ((at_start || Initialises(from)) && IsOfVariant(to) && !Initialises(to)) {
        return Quoted(to) + " is used by code that runs at start or exit";
      }
      if (symbols_[index].st_shndx != SHN_UNDEF || to.empty() || MayBeCalled(to)) continue;
      const bool of_others =
          !IsOfVariant(from) && (place_ == VariantPlace::kSwapped || !from.empty());
      if (of_others) {
        of_others_.insert(std::string(to));
      } else {
        called_.emplace(to, from);
      }
    }
    return "";
  }

  const base::ElfImage& file_;
  VariantPlace place_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<std::string_view> names_;
  std::map<std::uint64_t, std::vector<Symbol>> places_;  // by section
  std::string_view ifunc_;
  std::map<std::string, std::string> called_;  // what variants refer to, and from where
  std::set<std::string> of_others_;            // what the user's own code refers to
};

}  // namespace

base::Result<std::string> WhyNotDeviceCode(const std::string& path, VariantPlace place) {
  TRY_ASSIGN(std::string bytes, base::ReadFile(path));
  const auto file = base::ElfImage::Read(std::move(bytes));
  if (!file || !file->relocatable()) {
    return std::string(place == VariantPlace::kCandidate ? "it is no object of machine code" : "");
  }
  return Object(*file, place).Look();
}

}  // namespace cupilot::nvcc
