#include "source/scan.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "source/closure.h"
#include "source/closure_options.h"
#include "source/constructs.h"
#include "source/kernel_key.h"
#include "source/syntax/query.h"
#include "source/unit.h"

namespace cupilot::source {
namespace {

// "const float *__restrict" is "const float *" to a caller, "const int" is "int".
std::string WithoutOwnQualifiers(std::string type) {
  for (const std::string_view suffix : {"__restrict", "const", "volatile"}) {
    const std::size_t star = type.rfind('*');
    if (star != std::string::npos && type.ends_with(suffix) &&
        star < type.size() - suffix.size() + 1) {
      type.resize(type.size() - suffix.size());
      while (type.ends_with(' ')) type.pop_back();
    }
  }
  if (type.find('*') == std::string::npos && type.starts_with("const ")) type.erase(0, 6);
  return type;
}

records::Parameter ParameterOf(const Tree& tree, NodeId id) {
  const Node& node = tree.at(id);
  records::Parameter parameter;
  parameter.name = node.name;
  parameter.type = WithoutOwnQualifiers(node.type);
  parameter.canonical = node.canonical;
  parameter.bytes = node.type_bytes;
  switch (node.type_class) {
    case TypeClass::kPointer:
      parameter.kind = records::ParameterKind::kPointer;
      parameter.element = node.element;
      parameter.element_bytes = node.element_bytes;
      parameter.element_const = Has(tree, id, kElementConst);
      break;
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      parameter.kind = records::ParameterKind::kInteger;
      parameter.is_signed = node.type_class == TypeClass::kSigned;
      break;
    case TypeClass::kFloating:
      parameter.kind = records::ParameterKind::kFloating;
      break;
    default:
      break;
  }
  return parameter;
}

class Scanner {
 public:
  Scanner(const Unit& unit, const protocol::ScanRequest& request)
      : unit_(unit), request_(request), tree_(unit.parsed.tree) {}

  protocol::ScanReply Run() {
    reply_.files = unit_.source.files;
    for (const Diagnostic& error : unit_.source.errors) {
      Warn(error.file + ":" + std::to_string(error.line) + ": " + error.message);
    }
    TagReport tags = AttachTags(unit_.source, tree_, unit_.places);
    for (std::string& warning : tags.warnings) Warn(std::move(warning));
    std::vector<NodeId> tagged;
    for (const TaggedKernel& kernel : tags.kernels) {
      tagged.push_back(kernel.kernel);
      reply_.kernels.push_back(Describe(kernel));
    }
    for (const NodeId kernel : Kernels(tree_)) {
      if (std::count(tagged.begin(), tagged.end(), kernel) > 0) continue;
      if (IsAskedFor(tree_.at(kernel).qualified)) {
        TaggedKernel untagged;
        untagged.kernel = kernel;
        reply_.kernels.push_back(Describe(untagged));
        continue;
      }
      reply_.untagged_kernels.push_back(tree_.at(kernel).qualified);
      if (!IsAskedFor(kernel)) continue;
      TaggedKernel plain;
      plain.kernel = kernel;
      reply_.kernels.push_back(Describe(plain));
    }
    return std::move(reply_);
  }

 private:
  bool IsAskedFor(NodeId kernel) const {
    const Node& node = tree_.at(kernel);
    const auto& names = request_.kernels;
    return std::count(names.begin(), names.end(), node.qualified) > 0 ||
           std::count(names.begin(), names.end(), node.name) > 0;
  }

  bool IsAskedFor(const std::string& qualified) const {
    return std::any_of(
        request_.kernels.begin(), request_.kernels.end(), [&](const std::string& name) {
          return !name.empty() && (qualified == name || qualified.ends_with("::" + name));
        });
  }

  void Warn(std::string text) { reply_.warnings.push_back(std::move(text)); }

  records::Kernel Describe(const TaggedKernel& tagged) {
    const Node& node = tree_.at(tagged.kernel);
    records::Kernel kernel;
    kernel.name = node.qualified;
    kernel.base_name = node.name;
    kernel.namespaces = NamespacesOf(tree_, tagged.kernel);
    kernel.signature = node.mangled;
    const Places::Place place = unit_.places.At(node.name_begin > 0 ? node.name_begin : node.begin);
    kernel.file = base::AbsolutePath(place.file, unit_.flags.preprocess.directory);
    kernel.line = place.line;
    for (const NodeId parameter : Parameters(tree_, tagged.kernel)) {
      kernel.parameters.push_back(ParameterOf(tree_, parameter));
    }
    const std::string here = place.file + ":" + std::to_string(place.line) + ": ";
    if (Has(tree_, tagged.kernel, kTemplate)) {
      Decline(kernel, here + "'" + kernel.name +
                          "' is a template, which is not tuned yet; tag a kernel that is none");
      return kernel;
    }
    DescribeClosure(tagged.kernel, kernel);
    if (!tagged.error.empty()) Decline(kernel, tagged.error);
    if (auto applied = ApplyTag(tagged.tag, unit_.source.macros, kernel); !applied) {
      Decline(kernel, applied.error().message);
    }
    if (request_.numerics == "bitwise") {
      if (!kernel.tolerance) kernel.tolerance.emplace();
      kernel.tolerance->bitwise = true;
    }
    CheckGlobals(here, kernel);
    if (kernel.declined.empty()) CheckClosure(here, kernel);
    if (kernel.cases.empty() && kernel.declined.empty() && tagged.tag.tune) {
      Warn(here + "'" + kernel.name +
           "' has no workload; write '// cupilot: workload grid=(...) block=(...) ...' in its tag, "
           "or record one");
    }
    return kernel;
  }

  // The first reason stays on the kernel; all are warnings.
  void Decline(records::Kernel& kernel, const std::string& reason) {
    if (kernel.declined.empty()) kernel.declined = reason;
    Warn(reason);
  }

  void DescribeClosure(NodeId id, records::Kernel& kernel) {
    const Closure closure = CollectClosure(tree_, id, unit_.source.system_includes);
    const Constructs constructs =
        InspectClosure(tree_, closure, unit_.places, unit_.flags.host_toolkit);
    kernel.synchronises = constructs.synchronises;
    kernel.uses_atomics = constructs.uses_atomics;
    kernel.globals = constructs.globals;
    uninitialised_ = constructs.uninitialised;
    kernel.closure_source = PrintClosure(closure);
    kernel.standard = unit_.flags.preprocess.standard;
    if (!unit_.flags.host_toolkit) kernel.toolkit_include = unit_.flags.toolkit_include;
    for (const UserMacro& macro : unit_.source.macros)
      kernel.closure_macros += macro.definition + "\n";
    kernel.closure = RangesOf(closure, unit_.source);
    for (records::ClosureRange& range : kernel.closure) HashRange(range);
    kernel.key = KernelKey(tree_, id, closure, unit_.flags.code_flags);
    for (const Diagnostic& error : unit_.parsed.errors) {
      for (const Chunk& chunk : closure.chunks) {
        if (error.offset < chunk.begin || error.offset >= chunk.end) continue;
        Decline(kernel, error.file + ":" + std::to_string(error.line) + ": " + error.message);
      }
    }
    if (!constructs.declined.empty()) Decline(kernel, constructs.declined);
    if (!unit_.flags.host_toolkit) CheckBranches(kernel);
  }

  // The parse sees one side of a condition on the architecture, the device compiler another.
  void CheckBranches(records::Kernel& kernel) {
    for (const ArchitectureBranch& branch : unit_.source.branches) {
      if (branch.file < 0) continue;
      const std::string& file = unit_.source.files[static_cast<std::size_t>(branch.file)];
      for (const records::ClosureRange& range : kernel.closure) {
        if (range.file != file || branch.end <= range.begin || branch.begin >= range.end) continue;
        const std::string& text = TextOf(file);
        const auto line = 1 + std::count(text.begin(), text.begin() + branch.begin, '\n');
        Decline(kernel, file + ":" + std::to_string(line) +
                            ": the kernel depends on __CUDA_ARCH__, which is not tuned yet");
        return;
      }
    }
  }

  const std::string& TextOf(const std::string& file) {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    std::string text;
    if (file == unit_.flags.preprocess.file_name) {
      text = unit_.text;
    } else if (auto read = base::ReadFile(file)) {
      text = std::move(*read);
    }
    return texts_.emplace(file, std::move(text)).first->second;
  }

  void HashRange(records::ClosureRange& range) {
    const std::string& text = TextOf(range.file);
    if (static_cast<std::size_t>(range.end) > text.size()) return;
    range.hash = base::HashHex(std::string_view(text).substr(
        static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin)));
  }

  // A table that is filled at run time needs values to run on.
  void CheckGlobals(const std::string& here, records::Kernel& kernel) {
    for (const std::string& symbol : uninitialised_) {
      for (const records::Case& workload : kernel.cases) {
        const bool given =
            std::any_of(workload.globals.begin(), workload.globals.end(),
                        [&](const records::Global& g) { return g.symbol == symbol; });
        if (given) continue;
        std::string why = here;
        why.append("the kernel reads '").append(symbol).append("', which the workload '");
        why.append(workload.name).append("' does not give; write global:").append(symbol);
        Decline(kernel, why.append("=fill in its tag"));
        break;
      }
    }
  }

  // The closure must stand alone: what clang cannot parse, no candidate can be built from.
  void CheckClosure(const std::string& here, records::Kernel& kernel) {
    ParseOptions options;
    options.file_name = "closure.cu";
    options.standard = ClosureStandard(unit_.flags.preprocess.standard);
    options.system_folders = unit_.flags.preprocess.toolkit_folders;
    options.defines = {"__CUDACC__", "__NVCC__"};
    if (!unit_.flags.host_toolkit) options = ToolkitParseOptions(kernel);
    const auto parsed = Parse(kernel.closure_source, options);
    if (!parsed) {
      Decline(kernel, here + parsed.error().message);
    } else if (!parsed->errors.empty()) {
      const Diagnostic& error = parsed->errors.front();
      Decline(kernel, here + "the kernel's text does not stand alone (" + error.message +
                          ", line " + std::to_string(error.line) + " of the text made of it)");
    } else if (FindDefinition(parsed->tree, kernel.name) == kNone) {
      Decline(kernel, here + "the kernel was not found again in the text made of it");
    }
  }

  const Unit& unit_;
  const protocol::ScanRequest& request_;
  const Tree& tree_;
  protocol::ScanReply reply_;
  std::map<std::string, std::string> texts_;
  std::vector<std::string> uninitialised_;
};

}  // namespace

base::Result<protocol::ScanReply> Scan(const protocol::ScanRequest& request) {
  TRY_ASSIGN(const auto unit, LoadUnit(request.command, request.source_text));
  return Scanner(*unit, request).Run();
}

}  // namespace cupilot::source
