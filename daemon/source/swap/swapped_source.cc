#include "source/swap/swapped_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/hash.h"
#include "records/expression.h"
#include "source/swap/hook_runtime.h"
#include "source/swap/host_declarations.h"
#include "source/swap/nameless_kernels.h"
#include "source/swap/variant_file.h"
#include "source/swap/variant_function.h"
#include "source/swap/variant_text.h"
#include "source/syntax/lexer.h"

namespace cupilot::source {
namespace {

using records::Json;

// Text inside a string literal of the swapped source.
std::string Literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      const char octal[] = {'\\', static_cast<char>('0' + (byte >> 6)),
                            static_cast<char>('0' + ((byte >> 3) & 7)),
                            static_cast<char>('0' + (byte & 7)), '\0'};
      out += octal;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// "compute_90,sm_90": ptx 90, binary 90. Code that is PTX ("compute_80,compute_80") is compiled by
// the driver for whatever runs it: binary 0, any.
struct Target {
  int ptx = 0;
  int binary = 0;
  char kind = 0;             // the suffix of compute_90a
  std::string architecture;  // of the host device
};

int NumberBehind(const std::string& text, const std::string& prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string::npos) return 0;
  return ArchitectureNumber("compute_" + text.substr(at + prefix.size())) / 10;
}

Target ParseTarget(const std::string& text) {
  Target target;
  target.ptx = ArchitectureNumber(text) / 10;
  if (target.ptx == 0) {
    target.architecture = text;
  } else {
    target.binary = NumberBehind(text, ",sm_");
    target.kind = ArchitectureSuffix(text);
  }
  return target;
}

// `&::image::blur` as the overload (and the instantiation) that the record means.
std::string AddressOf(const records::Kernel& kernel, const std::vector<std::string>& arguments) {
  std::string types;
  for (const records::Parameter& parameter : kernel.parameters) {
    types += (types.empty() ? "" : ", ") + parameter.canonical;
  }
  return "static_cast<void (*)(" + types + ")>(&" +
         records::NameWithArguments("::" + kernel.name, arguments) + ")";
}

// As people know it: "image::blur<float, 4>".
std::string ShownName(const SwappedKernel& swapped) {
  if (IsNameless(swapped.kernel)) return records::LabelOf(swapped.kernel);
  return swapped.variants.empty()
             ? swapped.kernel.name
             : records::NameWithArguments(swapped.kernel.name,
                                          swapped.variants[0].variant.template_arguments);
}

// What `cupilot inspect` reads from the program: one JSON document a line.
std::string Description(const SwapRequest& request, const std::string& hook) {
  const Json object = {{"schema", "cupilot.inspect/1"},
                       {"source", request.source},
                       {"object", request.unit},
                       {"hook", hook}};
  std::string text = records::CompactJson(object) + "\n";
  for (const SwappedKernel& swapped : request.kernels) {
    for (const SwappedVariant& variant : swapped.variants) {
      const Json line = {{"kernel", ShownName(swapped)}, {"id", variant.variant.id},
                         {"target", variant.target},     {"title", variant.title},
                         {"speedup", variant.speedup},   {"guard", variant.guard}};
      text += records::CompactJson(line) + "\n";
    }
  }
  return text;
}

std::string DescriptionArray(const std::string& description) {
  std::string text =
      "static const char description[] __attribute__((section(\".cupilot\"), used, aligned(1))) "
      "=\n";
  std::size_t begin = 0;
  while (begin < description.size()) {
    const std::size_t end = std::min(description.find('\n', begin), description.size() - 1) + 1;
    text += "    " + Literal(description.substr(begin, end - begin)) + "\n";
    begin = end;
  }
  return text + "    ;\n";
}

// The includes of all variants, each once, in the order of first use.
base::Result<std::string> Includes(const SwapRequest& request) {
  std::set<std::string> seen;
  std::string text;
  for (const SwappedKernel& swapped : request.kernels) {
    for (const SwappedVariant& variant : swapped.variants) {
      for (const std::string& header : variant.variant.includes) {
        if (!seen.insert(header).second) continue;
        records::Variant one;
        one.includes = {header};
        TRY_ASSIGN(const std::string line, IncludeLines(one));
        text += line;
      }
    }
  }
  return text;
}

// The variants' files; one that is proven for several targets stands once.
base::Result<std::vector<SwappedText>> VariantFiles(const SwapRequest& request) {
  std::vector<SwappedText> files;
  for (const SwappedKernel& swapped : request.kernels) {
    std::map<std::string, std::vector<const SwappedVariant*>> places;
    for (const SwappedVariant& variant : swapped.variants) {
      places[variant.variant.id].push_back(&variant);
    }
    for (const SwappedVariant& variant : swapped.variants) {
      const auto& same = places[variant.variant.id];
      if (same.front() != &variant) continue;
      TRY_ASSIGN(SwappedText file, WriteVariantFile(request, swapped, same));
      files.push_back(std::move(file));
    }
  }
  return files;
}

// What the host pass has in their place; each variant once, as there.
base::Result<std::string> InHostPass(const SwapRequest& request) {
  std::set<std::pair<const SwappedKernel*, std::string>> seen;
  std::string text;
  for (const SwappedKernel& swapped : request.kernels) {
    for (const SwappedVariant& variant : swapped.variants) {
      if (!seen.emplace(&swapped, variant.variant.id).second) continue;
      auto one = HostDeclarations(swapped.kernel, variant.variant, request.unit);
      if (!one) return base::Fail(one.error().In("variant " + variant.variant.id));
      text += *one;
    }
  }
  return text;
}

class Tables {
 public:
  // Rows in the order: all kernels' originals, then the entries of each variant.
  base::Result<> Add(const SwapRequest& request) {
    const std::size_t kernels = request.kernels.size();
    for (const SwappedKernel& swapped : request.kernels) TRY(AddOriginal(swapped));
    entries_ = kernels;
    for (std::size_t k = 0; k < kernels; ++k) TRY(AddKernel(request.kernels[k], k));
    return {};
  }

  bool needs_workspaces() const { return needs_workspaces_; }
  const std::string& checks() const { return checks_; }

  std::string Rows(std::size_t kernels) const {
    return "enum { kernel_count = " + std::to_string(kernels) +
           ", function_count = " + std::to_string(entries_) + " };\n" + "const void* " +
           (nameless_ ? "" : "const ") + "functions[] = {\n" + functions_ + "};\n" + devices_ +
           "const kernel_row kernels[] = {\n" + kernels_ + "};\n" +
           "const variant_row variants[] = {\n" + variants_ + "};\n";
  }

  std::string Functions() const {
    return variant_functions_ +
           "__attribute__((always_inline)) inline bool select(int kernel, unsigned bits, const "
           "launch& l, const geometry& o,\n"
           "                   cudaError_t* result) {\n  switch (kernel) {\n" +
           cases_ + "    default:\n      return false;\n  }\n}\n";
  }

 private:
  base::Result<> AddOriginal(const SwappedKernel& swapped) {
    if (swapped.variants.empty()) {
      return base::Fail(base::InvalidArgument(swapped.kernel.name + " has no variant"));
    }
    const std::vector<std::string>& arguments = swapped.variants[0].variant.template_arguments;
    for (const SwappedVariant& variant : swapped.variants) {
      if (variant.variant.template_arguments != arguments) {
        return base::Fail(base::InvalidArgument(
            swapped.kernel.name + ": variants of different instantiations in one list"));
      }
    }
    nameless_ = nameless_ || IsNameless(swapped.kernel);
    functions_ += IsNameless(swapped.kernel)
                      ? "    0,  // when it is registered\n"
                      : "    (const void*)" + AddressOf(swapped.kernel, arguments) + ",\n";
    return {};
  }

  base::Result<> AddKernel(const SwappedKernel& swapped, std::size_t k) {
    kernels_ += "    {" + Literal(ShownName(swapped)) + ", " + std::to_string(variant_count_) +
                ", " + std::to_string(swapped.variants.size()) + "},\n";
    cases_ += "    case " + std::to_string(k) + ":\n      return ";
    std::map<std::string, std::size_t> first_entries;
    for (std::size_t v = 0; v < swapped.variants.size(); ++v) {
      const SwappedVariant& variant = swapped.variants[v];
      const std::vector<std::string> entries = EntriesOf(variant.variant);
      const auto [known, fresh] = first_entries.emplace(variant.variant.id, entries_);
      if (fresh) {
        for (const std::string& entry : entries) {
          if (!IsIdentifier(entry)) {
            return base::Fail(base::InvalidArgument("entry '" + entry + "' is not a name"));
          }
          functions_ +=
              "    (const void*)&" + QualifiedEntry(swapped.kernel, variant.variant, entry) + ",\n";
        }
        entries_ += entries.size();
      }
      AddRow(variant, known->second, entries.size());
      TRY_ASSIGN(const VariantFunction function,
                 WriteVariantFunction(swapped.kernel, variant, k, v, known->second));
      variant_functions_ += function.text;
      checks_ += function.checks;
      needs_workspaces_ = needs_workspaces_ || function.needs_workspaces;
      cases_ += (v == 0 ? "" : " ||\n             ") + ("((bits & " + std::to_string(2ULL << v)) +
                "u) != 0 && " + function.name + "(l, o, result))";
    }
    cases_ += ";\n";
    return {};
  }

  void AddRow(const SwappedVariant& variant, std::size_t first, std::size_t count) {
    const Target target = ParseTarget(variant.target);
    std::string devices = "0";
    if (!variant.devices.empty()) {
      devices = "devices_" + std::to_string(variant_count_);
      devices_ += "const char* const " + devices + "[] = {";
      for (const std::string& name : variant.devices) devices_ += Literal(name) + ", ";
      devices_ += "0};\n";
    }
    variants_ += "    {" + std::to_string(target.ptx) + ", " + std::to_string(target.binary) +
                 ", " + std::to_string(static_cast<int>(target.kind)) + ", " +
                 (target.architecture.empty() ? "0" : Literal(target.architecture)) + ", " +
                 devices + ", " + std::to_string(first) + ", " + std::to_string(count) + "},\n";
    ++variant_count_;
  }

  std::string functions_, devices_, kernels_, variants_, cases_, variant_functions_, checks_;
  std::size_t entries_ = 0;
  std::size_t variant_count_ = 0;
  bool needs_workspaces_ = false;
  bool nameless_ = false;
};

base::Result<> Check(const SwapRequest& request) {
  if (request.kernels.empty()) return base::Fail(base::InvalidArgument("no kernel to swap"));
  if (request.source.empty() || request.source[0] != '/' ||
      request.source.find_first_of("\"\n\\") != std::string::npos) {
    return base::Fail(base::InvalidArgument("the source's path '" + request.source +
                                            "' cannot stand in an #include"));
  }
  for (const SwappedKernel& swapped : request.kernels) {
    if (swapped.variants.size() > 30) {
      return base::Fail(base::InvalidArgument(swapped.kernel.name + " has more than 30 variants"));
    }
  }
  return {};
}

// Takes the user's macros away whose names the hook's text has.
std::string WithoutMacros(const std::set<std::string>& macros, const std::string& text) {
  std::set<std::string> found;
  for (const Token& token : Lex(text)) {
    const std::string word(Spelling(text, token));
    if (token.kind == TokenKind::kIdentifier && macros.contains(word)) found.insert(word);
  }
  std::string lines;
  for (const std::string& name : found) lines += "#undef " + name + "\n";
  return lines;
}

}  // namespace

base::Result<SwappedSource> WriteSwappedSource(const SwapRequest& request) {
  TRY(Check(request));
  TRY_ASSIGN(const std::string includes, Includes(request));
  SwappedSource out;
  TRY_ASSIGN(out.variants, VariantFiles(request));
  std::string variants;
  for (const SwappedText& file : out.variants) variants += IncludeOf(file);
  Tables tables;
  TRY(tables.Add(request));
  TRY_ASSIGN(const std::string in_host_pass, InHostPass(request));
  const std::string head = "// Written by cuPilot; replaced as a whole, never edited.\n" + includes;
  TRY_ASSIGN(const std::string nameless, NamelessRows(request));
  const std::string machinery = records::PrintedHelpers() + tables.Rows(request.kernels.size()) +
                                nameless + HookMachinery() + NamelessMachinery(request) +
                                (tables.needs_workspaces() ? HookWorkspaces() : std::string()) +
                                tables.Functions();
  const std::string own = HookTypes() + tables.checks() + HookProbe() + HookPrologue() + machinery +
                          HookEpilogue("") + NamelessEpilogue(request, "");
  const std::string undefined = WithoutMacros(request.user_macros, own);
  variants = "#if defined(__CUDA_ARCH__) || defined(CUPILOT_HOST_ABI_VERSION)\n" + variants +
             undefined + HookTypes() + tables.checks() + "#else\n#define CUPILOT_SWAP_BODY {}\n" +
             in_host_pass + "#undef CUPILOT_SWAP_BODY\n" + undefined + "#endif\n";
  const std::string body = "#include \"" + request.source + "\"\n" + HookQuietBegin() +
                           MadeTypes(request) + variants + HookProbe() + HookQuietEnd();
  base::Hasher hasher;
  hasher.Add(request.unit).Add(head).Add(body).Add(machinery);
  out.hook = "cupilot_hook_" + hasher.Hex().substr(0, 16);
  out.text = head + HookCalls(out.hook) + body + HookPrologue() +
             DescriptionArray(Description(request, out.hook)) + machinery + HookEpilogue(out.hook) +
             NamelessEpilogue(request, out.hook);
  out.file_name = "swap." + base::HashHex(out.text) + ".cu";
  return out;
}

std::vector<SwappedText> SwappedSource::Files() const {
  std::vector<SwappedText> files = variants;
  files.push_back({file_name, text});
  return files;
}

std::vector<std::string> HookDefinitions(const std::string& hook) {
  return {"-D__cudaLaunchKernel=" + hook, "-D__cudaLaunchKernel_ptsz=" + hook};
}

}  // namespace cupilot::source
