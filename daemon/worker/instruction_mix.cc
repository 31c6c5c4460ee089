#include "worker/instruction_mix.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/hash.h"
#include "worker/run_tool.h"

namespace cupilot::worker {
namespace {

constexpr std::chrono::milliseconds kListingLimit{20000};

struct OpcodeClass {
  const char* name;
  std::vector<std::string_view> prefixes;
};

// The first that fits. Names as in NVIDIA's "CUDA Binary Utilities", instruction set reference
// (Volta to Hopper); what begins with U runs once a warp.
const std::vector<OpcodeClass>& OpcodeClasses() {
  static const auto& classes = *new std::vector<OpcodeClass>{
      {"shuffle", {"SHFL", "VOTE", "MATCH", "REDUX"}},
      {"barrier", {"LDGDEPBAR"}},
      {"atomic", {"ATOM", "RED"}},
      {"shared", {"LDS", "STS"}},
      {"local", {"LDL", "STL"}},
      {"constant", {"LDC", "ULDC"}},
      {"global", {"LDG", "STG", "LD", "ST", "UBLKCP", "UTMALDG", "UTMASTG"}},
      {"special", {"MUFU"}},
      {"barrier", {"BAR", "DEPBAR", "MEMBAR", "ERRBAR", "SYNCS", "WARPSYNC", "FENCE"}},
      {"convert", {"F2", "I2", "FRND"}},
      {"control",
       {"BRA", "BRX", "BSSY", "BSYNC", "BREAK", "CALL", "RET", "EXIT", "JMP", "JMX", "NANOSLEEP",
        "YIELD", "NOP"}},
      {"fp32", {"FADD", "FMUL", "FFMA", "FMNMX", "FSEL", "FSET", "FCHK", "FSWZ"}},
      {"fp64", {"DADD", "DMUL", "DFMA", "DMNMX", "DSET"}},
      {"fp16", {"HADD2", "HMUL2", "HFMA2", "HMNMX2", "HSET"}},
      {"integer", {"IADD", "IMAD", "ISETP", "IMNMX", "IABS",  "ISCADD", "IDP",    "LEA",
                   "LOP",  "SHF",  "SHL",   "SHR",   "VIADD", "VIMNMX", "POPC",   "FLO",
                   "BREV", "BMSK", "PRMT",  "SEL",   "UIADD", "UIMAD",  "UISETP", "ULEA",
                   "ULOP", "USHF", "UPRMT", "USEL",  "UPOPC", "UFLO",   "UBREV"}},
  };
  return classes;
}

const char* ClassOf(std::string_view opcode) {
  // HMMA, IMMA, DMMA, HGMMA, ...
  if (opcode.substr(0, opcode.find('.')).find("MMA") != std::string_view::npos) return "tensor";
  for (const OpcodeClass& one : OpcodeClasses()) {
    for (const std::string_view prefix : one.prefixes) {
      if (opcode.starts_with(prefix)) return one.name;
    }
  }
  return "other";
}

// "        /*0050*/              @!P0 EXIT ;" -> "EXIT"; empty: no instruction.
std::string_view OpcodeIn(std::string_view line) {
  const std::size_t begin = line.find("/*");
  const std::size_t end = line.find("*/");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 3)
    return {};
  const std::string_view address = line.substr(begin + 2, end - begin - 2);
  if (address.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  std::string_view rest = line.substr(end + 2);
  for (;;) {
    const std::size_t word = rest.find_first_not_of(" \t{");
    if (word == std::string_view::npos) return {};
    rest.remove_prefix(word);
    const std::size_t length = std::min(rest.find_first_of(" \t;"), rest.size());
    const std::string_view first = rest.substr(0, length);
    if (!first.starts_with('@')) return first;
    rest.remove_prefix(length);
  }
}

}  // namespace

InstructionMix MixOf(std::string_view listing) {
  constexpr std::string_view kSection = ".text.";
  InstructionMix mix;
  std::map<std::string, int>* kernel = nullptr;
  while (!listing.empty()) {
    const std::size_t length = std::min(listing.find('\n'), listing.size());
    std::string_view line = listing.substr(0, length);
    listing.remove_prefix(std::min(length + 1, listing.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.starts_with(kSection) && line.ends_with(':')) {
      kernel = &mix[std::string(line.substr(kSection.size(), line.size() - kSection.size() - 1))];
      continue;
    }
    const std::string_view opcode = OpcodeIn(line);
    if (kernel != nullptr && !opcode.empty()) ++(*kernel)[ClassOf(opcode)];
  }
  return mix;
}

base::Result<InstructionMix> InstructionMixOf(const std::string& cubin,
                                              const std::vector<std::string>& toolkits,
                                              const std::string& folder) {
  for (const std::string& toolkit : toolkits) {
    const std::string program = toolkit + "/bin/nvdisasm";
    if (!base::FileExists(program)) continue;
    TRY(base::MakeFolders(folder));
    const std::string output = folder + "/listing." + base::HashHex(cubin).substr(0, 16);
    TRY_ASSIGN(const ToolEnd ended, RunTool({program, "-c", cubin}, output, kListingLimit));
    auto text = base::ReadFile(output);
    TRY(base::RemoveTree(output));
    TRY(text);
    if (!ended.succeeded) {
      return base::Fail(base::Unavailable(program + " fails: " + text->substr(0, 300)));
    }
    return MixOf(*text);
  }
  return base::Fail(base::Unavailable(
      "no nvdisasm in the toolkit: install the CUDA toolkit's package cuda-nvdisasm"));
}

}  // namespace cupilot::worker
