#include "client/nvcc/missing.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cupilot::nvcc {
namespace {

using source::Unsupported;

// How headers of the toolkit begin, those of its libraries too.
constexpr std::array<std::string_view, 33> kHeaders = {"cub/",
                                                       "thrust/",
                                                       "cuda/",
                                                       "nv/",
                                                       "cooperative_groups/",
                                                       "nvtx3/",
                                                       "crt/",
                                                       "cuda_",
                                                       "cuda",
                                                       "cu_",
                                                       "cublas",
                                                       "cufft",
                                                       "cusparse",
                                                       "cusolver",
                                                       "curand",
                                                       "cudnn",
                                                       "cupti",
                                                       "cufile",
                                                       "cudla",
                                                       "cutensor",
                                                       "npp",
                                                       "nvjpeg",
                                                       "nvrtc",
                                                       "nvml",
                                                       "nvPTX",
                                                       "nvToolsExt",
                                                       "nccl",
                                                       "texture_",
                                                       "surface_",
                                                       "mma.h",
                                                       "device_",
                                                       "sm_",
                                                       "channel_descriptor"};
// Namespaces whose members are CUDA's.
constexpr std::array<std::string_view, 6> kNamespaces = {
    "nvcuda", "cooperative_groups", "cuda", "thrust", "cub", "nv"};
constexpr std::array<std::string_view, 6> kWords = {"texture", "surface", "wmma",
                                                    "cub",     "thrust",  "nvcuda"};
// How names of the runtime and of libraries begin; a capital letter, a digit or an underscore
// follows.
constexpr std::array<std::string_view, 9> kFamilies = {
    "cuda", "CUDA", "CU", "curand", "cublas", "cufft", "cusparse", "nvtx", "nvrtc"};
// The same of families where programs have names that look alike.
constexpr std::array<std::string_view, 41> kBeginnings = {
    "tex1D",     "tex2D",     "tex3D",     "texCube",    "surf1D",    "surf2D",    "surf3D",
    "surfCube",  "atomicAdd", "atomicSub", "atomicExch", "atomicMin", "atomicMax", "atomicInc",
    "atomicDec", "atomicCAS", "atomicAnd", "atomicOr",   "atomicXor", "cuInit",    "cuDriver",
    "cuDevice",  "cuCtx",     "cuModule",  "cuLibrary",  "cuKernel",  "cuMem",     "cuArray",
    "cuPointer", "cuStream",  "cuEvent",   "cuFunc",     "cuLaunch",  "cuGraph",   "cuOccupancy",
    "cuTex",     "cuSurf",    "cuTensor",  "cuGet",      "cuLink",    "cuProfiler"};

bool IsToolkitHeader(std::string_view name) {
  return std::any_of(kHeaders.begin(), kHeaders.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

std::string OfHeader(std::string_view header) {
  const std::string written = "<" + std::string(header) + ">";
  return header == "mma.h" ? "nvcuda::wmma (" + written + ")" : written;
}

// "cuda::std::atomic" -> "cuda"
std::string_view FirstPart(std::string_view name) {
  while (name.starts_with("::")) name.remove_prefix(2);
  return name.substr(0, name.find("::"));
}

bool IsOfFamily(std::string_view name, std::string_view family) {
  if (!name.starts_with(family) || name.size() == family.size()) return false;
  const auto next = static_cast<unsigned char>(name[family.size()]);
  return std::isupper(next) != 0 || std::isdigit(next) != 0 || next == '_';
}

bool IsCudaName(std::string_view name) {
  const std::string_view first = FirstPart(name);
  if (first.size() != name.size()) {
    return std::find(kNamespaces.begin(), kNamespaces.end(), first) != kNamespaces.end();
  }
  if (std::find(kWords.begin(), kWords.end(), name) != kWords.end()) return true;
  // Programs may not use names that begin like this; CUDA's intrinsics do.
  if (name.starts_with("__") && name.size() > 2) {
    return std::islower(static_cast<unsigned char>(name[2])) != 0 && !name.starts_with("__builtin");
  }
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return IsOfFamily(name, family); }) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

// What stands in quotes, plain or typographic, in the order of the text.
std::vector<std::string> QuotedWords(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kOpen = "\u2018";
  constexpr std::string_view kClose = "\u2019";
  for (std::size_t at = 0; at < text.size();) {
    const bool plain = text[at] == '\'';
    if (!plain && text.substr(at, kOpen.size()) != kOpen) {
      ++at;
      continue;
    }
    const std::string_view close = plain ? "'" : kClose;
    const std::size_t begin = at + (plain ? 1 : kOpen.size());
    const std::size_t end = text.find(close, begin);
    if (end == std::string_view::npos) break;
    words.emplace_back(text.substr(begin, end - begin));
    at = end + close.size();
  }
  return words;
}

// "struct cudaDeviceProp" and "const cudaDeviceProp" -> "cudaDeviceProp"
std::string LastWord(const std::string& text) { return text.substr(text.rfind(' ') + 1); }

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The name that a complaint is about, "" if it is none about a name of CUDA.
std::string NameIn(std::string_view message) {
  const std::vector<std::string> words = QuotedWords(message);
  if (words.empty()) return "";
  std::string name;
  if (words.size() > 1 &&
      (Contains(message, "no member named") || Contains(message, "no type named") ||
       (Contains(message, "no template named") && Contains(message, "' in ")) ||
       Contains(message, "is not a member of"))) {
    name = LastWord(words[1]) + "::" + words[0];  // clang: 'x' in 'scope'; g++ says it so, too
  } else if (words.size() > 1 && Contains(message, "has no member named")) {
    name = LastWord(words[0]) + "::" + words[1];
  } else if (words.size() > 1 && Contains(message, " in namespace ")) {
    name = words[1] + "::" + words[0];
  } else if (Contains(message, "undeclared identifier") || Contains(message, "unknown type name") ||
             Contains(message, "no template named") || Contains(message, "was not declared") ||
             Contains(message, "has not been declared") || Contains(message, "does not name a ") ||
             Contains(message, "so a declaration of") || Contains(message, "is not a class") ||
             Contains(message, "there are no arguments to")) {
    name = words[0];
  }
  const std::size_t arguments = name.find_first_of("<(");
  name = name.substr(0, arguments);
  const std::string_view first = FirstPart(name);
  // A member of one of CUDA's own structures.
  const bool member = first.size() != name.size() && IsOfFamily(first, "cuda");
  return IsCudaName(name) || member ? name : "";
}

// "main.cu:3:10: error: ..." -> place "main.cu:3"; false for other lines.
bool SplitError(std::string_view line, std::string& place, std::string_view& message) {
  std::size_t at = line.find(": error: ");
  std::size_t length = 9;
  if (const std::size_t fatal = line.find(": fatal error: "); fatal != std::string_view::npos) {
    at = fatal;
    length = 15;
  }
  if (at == std::string_view::npos) return false;
  message = line.substr(at + length);
  const std::string_view front = line.substr(0, at);
  // "main.cu:3:10", or without the column.
  const std::size_t last = front.rfind(':');
  const std::size_t before = last == std::string_view::npos || last == 0
                                 ? std::string_view::npos
                                 : front.find_last_not_of("0123456789", last - 1);
  const bool has_column = before != std::string_view::npos && front[before] == ':';
  place = front.substr(0, has_column ? last : front.size());
  return true;
}

// Without the escapes that colour a line.
std::string Plain(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
  }
  return plain;
}

}  // namespace

Missing MissingNames(const std::vector<source::Diagnostic>& errors) {
  Missing missing;
  for (const source::Diagnostic& error : errors) {
    const std::string name = NameIn(error.message);
    if (!name.empty()) missing.push_back({error.file + ":" + std::to_string(error.line), name});
  }
  return missing;
}

Missing MissingInOutput(std::string_view output) {
  Missing missing;
  const std::string text = Plain(output);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string place;
    std::string_view message;
    if (SplitError(std::string_view(text).substr(begin, end - begin), place, message)) {
      constexpr std::string_view kNoFile = ": No such file or directory";
      const std::size_t no_file = message.find(kNoFile);
      if (no_file != std::string_view::npos) {
        const std::string_view header = message.substr(0, no_file);
        if (IsToolkitHeader(header)) missing.push_back({place, OfHeader(header)});
      } else if (const std::string name = NameIn(message); !name.empty()) {
        missing.push_back({place, name});
      }
    }
    begin = end + 1;
  }
  return missing;
}

std::string DescribeMissing(const Missing& missing) {
  std::vector<std::string> names;
  for (const Unsupported& one : missing) {
    if (std::find(names.begin(), names.end(), one.construct) == names.end()) {
      names.push_back(one.construct);
    }
  }
  std::string text =
      missing.front().place + ": error: cupilot: the host device does not have " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i == 1 ? " (nor " : ", ") + names[i];
  if (names.size() > 1) text += ")";
  return text + "; the README of cuPilot, \"The host device\", says what it has";
}

}  // namespace cupilot::nvcc
