#include "source/scan.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "source/ahead.h"
#include "source/closure.h"
#include "source/closure_options.h"
#include "source/compiler_check.h"
#include "source/constructs.h"
#include "source/kernel_key.h"
#include "source/lambda.h"
#include "source/pointee.h"
#include "source/specialise.h"
#include "source/swap/compiled_text.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"
#include "source/twin_layout.h"
#include "source/unit.h"

namespace cupilot::source {
namespace {

// "const float *__restrict" is "const float *" to a caller, "const int" is "int".
std::string WithoutOwnQualifiers(std::string type) {
  for (const std::string_view suffix : {"__restrict", "const", "volatile"}) {
    const std::size_t star = type.rfind('*');
    if (star != std::string::npos && type.ends_with(suffix) &&
        star < type.size() - suffix.size() + 1) {
      type.erase(type.size() - suffix.size());
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
      TakePointee(tree, node, parameter);
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
      parameter.members = NumbersIn(tree, node.canonical, node.type_bytes);
      break;
  }
  return parameter;
}

class Scanner {
 public:
  Scanner(const Unit& unit, const protocol::ScanRequest& request)
      : unit_(unit), request_(request), tree_(unit.parsed.tree) {
    if (!request.passes.empty()) compiler_.emplace(unit.source.text, request.passes);
  }

  protocol::ScanReply Run() {
    reply_.files = unit_.source.files;
    reply_.files.insert(reply_.files.end(), request_.entered.begin(), request_.entered.end());
    reply_.compiled = request_.compiled;
    for (const Diagnostic& error : unit_.source.errors) {
      Warn(error.file + ":" + std::to_string(error.line) + ": " + error.message);
    }
    TagReport tags = AttachTags(unit_.source, tree_, unit_.places);
    for (std::string& warning : tags.warnings) Warn(std::move(warning));
    std::vector<NodeId> tagged;
    for (const TaggedKernel& kernel : tags.kernels) {
      tagged.push_back(kernel.kernel);
      Add(kernel);
    }
    for (const NodeId kernel : Kernels(tree_)) {
      if (std::count(tagged.begin(), tagged.end(), kernel) > 0) continue;
      if (IsAskedFor(tree_.at(kernel).qualified)) {
        TaggedKernel untagged;
        untagged.kernel = kernel;
        Add(untagged);
      } else {
        reply_.untagged_kernels.push_back(tree_.at(kernel).qualified);
      }
    }
    return std::move(reply_);
  }

 private:
  bool IsAskedFor(const std::string& qualified) const {
    return std::any_of(
        request_.kernels.begin(), request_.kernels.end(), [&](const std::string& name) {
          return !name.empty() && (qualified == name || qualified.ends_with("::" + name));
        });
  }

  void Warn(std::string text) { reply_.warnings.push_back(std::move(text)); }

  // A kernel, or each instantiation of a template.
  void Add(const TaggedKernel& tagged) {
    const std::size_t before = reply_.kernels.size();
    for (const Instantiation& instantiation : tree_.instantiations) {
      if (instantiation.kernel == tagged.kernel) {
        reply_.kernels.push_back(Describe(tagged, &instantiation));
      }
    }
    if (reply_.kernels.size() > before) return;
    if (!Has(tree_, tagged.kernel, kTemplate)) {
      reply_.kernels.push_back(Describe(tagged, nullptr));
      return;
    }
    records::Kernel kernel = Identify(tagged.kernel, nullptr);
    Decline(kernel, Here(tagged.kernel) + "'" + kernel.name +
                        "' is a template that nothing in this source launches; tag it where it is "
                        "launched, or instantiate it here");
    reply_.kernels.push_back(std::move(kernel));
  }

  // What a kernel is called and where it stands.
  records::Kernel Identify(NodeId id, const Instantiation* instantiation) const {
    const Node& node = tree_.at(id);
    records::Kernel kernel;
    kernel.name = node.qualified;
    kernel.base_name = node.name;
    kernel.namespaces = NamespacesOf(tree_, id);
    kernel.signature = instantiation == nullptr ? node.mangled : instantiation->mangled;
    const Places::Place place = PlaceOf(id);
    kernel.file = base::AbsolutePath(place.file, unit_.flags.preprocess.directory);
    kernel.line = place.line;
    kernel.standard = unit_.flags.preprocess.standard;
    if (!request_.compiler_error.empty()) kernel.declined = request_.compiler_error;
    if (!unit_.flags.host_toolkit) kernel.toolkit_include = unit_.flags.toolkit_include;
    TakeMacros(node.begin, kernel);
    if (!unit_.source.asks_for_outermost.empty()) {
      kernel.declined = unit_.source.asks_for_outermost +
                        " is another one where variants are compiled in; the source is left alone";
    }
    return kernel;
  }

  // Those of the kernel's place, and how to come back to them from the end of the file.
  void TakeMacros(std::uint32_t begin, records::Kernel& kernel) const {
    std::map<std::string, std::string> end, here;
    for (const UserMacro& macro : unit_.source.macros) end[macro.name] = macro.definition;
    here = end;
    std::set<std::string> behind;
    for (const MacroChange& change : unit_.source.macro_changes) {
      if (change.offset > begin) behind.insert(change.name);
    }
    for (const std::string& name : behind) here.erase(name);
    for (const MacroChange& change : unit_.source.macro_changes) {
      if (change.offset > begin || !behind.contains(change.name)) continue;
      if (change.definition.empty()) {
        here.erase(change.name);
      } else {
        here[change.name] = change.definition;
      }
    }
    for (const auto& [name, definition] : here) kernel.closure_macros += definition + "\n";
    for (const std::string& name : behind) {
      const auto now = here.find(name);
      const auto last = end.find(name);
      if (now == here.end() ? last == end.end()
                            : last != end.end() && last->second == now->second) {
        continue;
      }
      kernel.macros_back.push_back(now == here.end() ? "#undef " + name : now->second);
    }
  }

  Places::Place PlaceOf(NodeId kernel) const {
    const Node& node = tree_.at(kernel);
    return unit_.places.At(node.name_begin > 0 ? node.name_begin : node.begin);
  }

  // "blur.cu:12: ", the file as the compiler was told its name.
  std::string Here(NodeId kernel) const {
    const Places::Place place = PlaceOf(kernel);
    return place.file + ":" + std::to_string(place.line) + ": ";
  }

  records::Kernel Describe(const TaggedKernel& tagged, const Instantiation* instantiation) {
    records::Kernel kernel = Identify(tagged.kernel, instantiation);
    const std::string here = Here(tagged.kernel);
    if (instantiation == nullptr) {
      TakeParameters(tree_, tagged.kernel, kernel);
      kernel.label = Overloaded(tagged.kernel) ? WithParameters(kernel) : std::string();
      DescribeClosure(tagged.kernel, kernel);
    } else if (const auto done = DescribeInstantiation(*instantiation, kernel); !done) {
      Decline(kernel, here + "'" + kernel.name + "' is not tuned: " + done.error().message);
      return kernel;
    }
    if (!tagged.error.empty()) Decline(kernel, tagged.error);
    const Tag tag =
        instantiation == nullptr ? tagged.tag : ForArguments(tagged.tag, *instantiation);
    if (auto applied = ApplyTag(tag, unit_.source.macros, kernel); !applied) {
      Decline(kernel, applied.error().message);
    }
    for (records::Case& workload : kernel.cases) {
      workload.template_arguments = kernel.template_arguments;
    }
    if (request_.numerics == "bitwise") {
      if (!kernel.tolerance) kernel.tolerance.emplace();
      kernel.tolerance->bitwise = true;
    }
    CheckGlobals(here, kernel);
    if (kernel.declined.empty() && instantiation == nullptr) CheckClosure(here, kernel);
    return kernel;
  }

  static void TakeParameters(const Tree& tree, NodeId id, records::Kernel& kernel) {
    for (const NodeId parameter : Parameters(tree, id)) {
      kernel.parameters.push_back(ParameterOf(tree, parameter));
    }
  }

  bool Overloaded(NodeId kernel) const {
    const std::vector<NodeId> all = Kernels(tree_);
    return std::any_of(all.begin(), all.end(), [&](NodeId other) {
      return other != kernel && tree_.at(other).qualified == tree_.at(kernel).qualified;
    });
  }

  static std::string WithParameters(const records::Kernel& kernel) {
    std::string label = kernel.name + "(";
    for (const records::Parameter& parameter : kernel.parameters) {
      label += (label.back() == '(' ? "" : ", ") + parameter.type;
    }
    return label + ")";
  }

  // The tag with the values of the template's integer parameters in its expressions.
  Tag ForArguments(const Tag& written, const Instantiation& instantiation) const {
    return WithValues(written, IntegerArguments(tree_, instantiation));
  }

  // The instantiation as an ordinary kernel, whose text is parsed anew.
  base::Result<> DescribeInstantiation(const Instantiation& instantiation,
                                       records::Kernel& kernel) {
    kernel.label = ShownLabel(instantiation, kernel.name);
    TRY(CheckLambdas(instantiation));
    TRY_ASSIGN(kernel.template_arguments, ArgumentTexts(instantiation));
    Closure written = CollectClosure(tree_, instantiation.kernel, unit_.source.system_includes,
                                     instantiation.uses);
    TRY_ASSIGN(const Closure closure,
               SpecialisedClosure(tree_, instantiation, written, unit_.flags.host_toolkit));
    TRY(DescribeLambdas(instantiation, kernel));
    DescribeText(WithLambdas(instantiation, written), kernel);
    const Constructs generic =
        InspectClosure(tree_, written, unit_.places, unit_.flags.host_toolkit);
    if (!generic.declined.empty()) Decline(kernel, generic.declined);
    std::string text = PrintClosure(closure);
    base::Result<ParseOutcome> parsed = ParseText(kernel, text);
    if (!parsed) return base::Fail(parsed.error());
    NodeId own = FindDefinition(parsed->tree, kernel.name);
    if (own == kNone) return base::Fail(base::Unsupported("its text was not found again"));
    if (std::string decided = WithoutDiscardedBranches(parsed->tree, own); decided != text) {
      text = std::move(decided);
      parsed = ParseText(kernel, text);
      if (!parsed) return base::Fail(parsed.error());
      own = FindDefinition(parsed->tree, kernel.name);
      if (own == kNone) return base::Fail(base::Unsupported("its text was not found again"));
    }
    const Tree& tree = parsed->tree;
    if (!parsed->errors.empty()) {
      return base::Fail(
          base::Unsupported("with these template arguments its text does not stand "
                            "alone (" +
                            parsed->errors.front().message + ")"));
    }
    const auto callees = tree.callees.find(own);
    if (callees == tree.callees.end() || callees->second != instantiation.callees) {
      return base::Fail(
          base::Unsupported("outside of its template it would call other functions" +
                            FirstDifference(instantiation.callees, callees == tree.callees.end()
                                                                       ? std::vector<std::string>()
                                                                       : callees->second)));
    }
    TRY(CheckMentions(instantiation, tree));
    kernel.closure_source = text;
    std::vector<std::string> specialised = NamesLookedUp({text});
    kernel.names.insert(kernel.names.end(), specialised.begin(), specialised.end());
    std::sort(kernel.names.begin(), kernel.names.end());
    kernel.names.erase(std::unique(kernel.names.begin(), kernel.names.end()), kernel.names.end());
    TakeParameters(tree, own, kernel);
    const Closure exact = CollectClosure(tree, own, unit_.source.system_includes);
    kernel.key = KernelKey(tree, own, exact, unit_.flags.code_flags);
    Constructs constructs =
        InspectClosure(tree, exact, Places(tree.text), unit_.flags.host_toolkit);
    if (const std::size_t place = constructs.declined.find(": "); place != std::string::npos) {
      // Its place is the made text's, which nobody has seen.
      constructs.declined.replace(0, place + 2, Here(instantiation.kernel));
    }
    TakeConstructs(constructs, kernel);
    return {};
  }

  // "image::Mode::kExact" for "static_cast<image::Mode>(1)", where the text has a word for the
  // value; other arguments as they are.
  std::string ShownArgument(const std::string& argument) const {
    constexpr std::string_view kCast = "static_cast<";
    const std::size_t open = argument.rfind(">(");
    if (!argument.starts_with(kCast) || open == std::string::npos || !argument.ends_with(')')) {
      return argument;
    }
    const std::string_view whole = argument;
    const std::string_view type = whole.substr(kCast.size(), open - kCast.size());
    const std::string_view value = whole.substr(open + 2, whole.size() - open - 3);
    for (const Node& node : tree_.nodes) {
      if (node.kind != Kind::kEnum || node.canonical != type) continue;
      for (const NodeId child : node.children) {
        if (!IsA(tree_, child, Kind::kEnumerator) || tree_.at(child).value != value) continue;
        return tree_.at(child).qualified;
      }
    }
    return argument;
  }

  // "image::map<float, image::run::lambda_1>"; empty where an argument cannot be written.
  std::string ShownLabel(const Instantiation& instantiation, const std::string& name) const {
    auto texts = ArgumentTexts(instantiation);
    if (!texts) return {};
    for (std::string& text : *texts) text = ShownArgument(text);
    for (const Lambda* lambda : LambdasOf(instantiation)) {
      std::replace(texts->begin(), texts->end(), QualifiedName(*lambda), lambda->shown);
    }
    return records::NameWithArguments(name, *texts);
  }

  // Why a kernel of this lambda cannot be swapped; empty if it can.
  std::string ProblemOf(const Lambda& lambda) const {
    constexpr int kTellsOfParameters = 12040;  // cudaFuncGetParamInfo, by which the hook knows it
    if (!lambda.problem.empty()) return lambda.problem;
    if (unit_.flags.host_toolkit || unit_.flags.toolkit_version >= kTellsOfParameters) return {};
    return "needs a CUDA toolkit of 12.4 or newer";
  }

  base::Result<> CheckLambdas(const Instantiation& instantiation) const {
    for (const Lambda* lambda : LambdasOf(instantiation)) {
      const std::string problem = ProblemOf(*lambda);
      if (problem.empty()) continue;
      const Places::Place place = unit_.places.At(lambda->begin);
      return base::Fail(base::Unsupported("the lambda in " + place.file + ":" +
                                          std::to_string(place.line) + " " + problem));
    }
    return {};
  }

  base::Result<> DescribeLambdas(const Instantiation& instantiation,
                                 records::Kernel& kernel) const {
    const std::vector<const Lambda*> lambdas = LambdasOf(instantiation);
    for (const Lambda* lambda : lambdas) {
      kernel.made_types.push_back(MadeTypeOf(*lambda, unit_.flags.host_toolkit));
    }
    if (lambdas.empty()) return {};
    TRY_ASSIGN(kernel.instance, InstanceOf(tree_, instantiation, unit_.flags.host_toolkit));
    return {};
  }

  // What lambdas capture is declared in the functions around them.
  static Closure WithLambdas(const Instantiation& instantiation, Closure written) {
    for (const Lambda* lambda : LambdasOf(instantiation)) {
      written.chunks.push_back(PlaceOfLambda(*lambda));
    }
    return written;
  }

  // The function objects say by each name what the lambdas say by it.
  base::Result<> CheckMentions(const Instantiation& instantiation, const Tree& tree) const {
    for (const Lambda* lambda : LambdasOf(instantiation)) {
      const std::string name = QualifiedName(*lambda) + "::operator()";
      const auto made =
          std::find_if(tree.mentions.begin(), tree.mentions.end(),
                       [&](const auto& one) { return tree.at(one.first).qualified == name; });
      const std::vector<std::string> found =
          made == tree.mentions.end() ? std::vector<std::string>() : made->second;
      if (made != tree.mentions.end() && found == lambda->mentions) continue;
      const Places::Place place = unit_.places.At(lambda->begin);
      return base::Fail(base::Unsupported(
          "outside of its function the lambda in " + place.file + ":" + std::to_string(place.line) +
          " would name other things" + FirstDifference(lambda->mentions, found)));
    }
    return {};
  }

  static std::string FirstDifference(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& found) {
    for (const auto* side : {&wanted, &found}) {
      const auto& other = side == &wanted ? found : wanted;
      for (const std::string& name : *side) {
        if (!std::binary_search(other.begin(), other.end(), name)) return " (" + name + ")";
      }
    }
    return {};
  }

  // The first reason stays on the kernel; all are warnings.
  void Decline(records::Kernel& kernel, const std::string& reason) {
    if (kernel.declined.empty()) kernel.declined = reason;
    Warn(reason);
  }

  void DescribeClosure(NodeId id, records::Kernel& kernel) {
    const Closure closure = CollectClosure(tree_, id, unit_.source.system_includes);
    TakeConstructs(InspectClosure(tree_, closure, unit_.places, unit_.flags.host_toolkit), kernel);
    kernel.closure_source = PrintClosure(closure);
    kernel.key = KernelKey(tree_, id, closure, unit_.flags.code_flags);
    DescribeText(closure, kernel);
  }

  void TakeConstructs(const Constructs& constructs, records::Kernel& kernel) {
    kernel.synchronises = constructs.synchronises;
    kernel.uses_atomics = constructs.uses_atomics;
    kernel.globals = constructs.globals;
    uninitialised_ = constructs.uninitialised;
    if (!constructs.declined.empty()) Decline(kernel, constructs.declined);
  }

  // What the user's files say of a closure: where it stands, and what is wrong there.
  void DescribeText(const Closure& closure, records::Kernel& kernel) {
    kernel.closure = RangesOf(closure, unit_.source);
    kernel.names = NamesLookedUp({PrintClosure(closure)});
    for (records::ClosureRange& range : kernel.closure) HashRange(range);
    kernel.depends_on_lines = HasHiddenLines(kernel) || HasPlaceMacro(kernel);
    CheckTime(kernel);
    for (const Diagnostic& error : unit_.parsed.errors) {
      for (const Chunk& chunk : closure.chunks) {
        if (error.offset < chunk.begin || error.offset >= chunk.end) continue;
        Decline(kernel, error.file + ":" + std::to_string(error.line) + ": " + error.message);
      }
    }
    if (compiler_) {
      CheckCompiler(closure, kernel);
    } else if (!unit_.flags.host_toolkit) {
      CheckBranches(kernel);
    }
  }

  // The text that is tuned is the one that is built: for the host, and for each architecture.
  void CheckCompiler(const Closure& closure, records::Kernel& kernel) {
    const std::string difference = compiler_->FirstDifference(kernel.names, unit_.places);
    if (!difference.empty()) Decline(kernel, difference);
    const std::string behind = compiler_->WhyNotBehind(closure, kernel.base_name, unit_.places);
    if (!behind.empty()) Decline(kernel, behind);
  }

  bool IsIn(const PlaceMacro& macro, const records::Kernel& kernel) const {
    const std::string& file = unit_.source.files[static_cast<std::size_t>(macro.file)];
    return std::any_of(
        kernel.closure.begin(), kernel.closure.end(), [&](const records::ClosureRange& range) {
          return range.file == file && range.begin <= macro.offset && macro.offset < range.end;
        });
  }

  // Variants would have the time of the scan, and the original that of the build.
  void CheckTime(records::Kernel& kernel) {
    for (const PlaceMacro& macro : unit_.source.place_macros) {
      if (!macro.of_time || !IsIn(macro, kernel)) continue;
      Decline(kernel, unit_.source.files[static_cast<std::size_t>(macro.file)] +
                          ": the kernel depends on the time of the build (__TIME__, __DATE__)");
    }
  }

  bool HasPlaceMacro(const records::Kernel& kernel) const {
    const auto& macros = unit_.source.place_macros;
    return std::any_of(macros.begin(), macros.end(),
                       [&](const PlaceMacro& macro) { return IsIn(macro, kernel); });
  }

  // The parse sees one side of a condition on the architecture, the device compiler another: in the
  // kernel's text, or by a macro that one of the sides defines.
  void CheckBranches(records::Kernel& kernel) {
    for (const ArchitectureBranch& branch : unit_.source.branches) {
      if (branch.file < 0) continue;
      const std::string& file = unit_.source.files[static_cast<std::size_t>(branch.file)];
      for (const records::ClosureRange& range : kernel.closure) {
        if (range.file != file || branch.end <= range.begin || branch.begin >= range.end) continue;
        return DeclineBranch(kernel, branch, "the kernel depends on __CUDA_ARCH__");
      }
      const std::set<std::string> names = DependentMacros(branch);
      if (names.empty()) continue;  // what it chooses between is no macro
      for (const records::ClosureRange& range : kernel.closure) {
        const std::string& text = TextOf(range.file);
        for (const Token& token : Lex(text, static_cast<std::size_t>(range.begin),
                                      static_cast<std::size_t>(range.end))) {
          const std::string word(Spelling(text, token));
          if (!names.contains(word)) continue;
          return DeclineBranch(kernel, branch,
                               "the kernel depends on __CUDA_ARCH__ by the macro " + word);
        }
      }
    }
  }

  void DeclineBranch(records::Kernel& kernel, const ArchitectureBranch& branch,
                     const std::string& why) {
    const std::string& file = unit_.source.files[static_cast<std::size_t>(branch.file)];
    const std::string& text = TextOf(file);
    const auto line = 1 + std::count(text.begin(), text.begin() + branch.begin, '\n');
    Decline(kernel, file + ":" + std::to_string(line) + ": " + why + ", which is not tuned yet");
  }

  // Macros that a branch defines or takes away, and those whose definitions name one of them.
  std::set<std::string> DependentMacros(const ArchitectureBranch& branch) {
    std::set<std::string> names;
    const std::string& text = TextOf(unit_.source.files[static_cast<std::size_t>(branch.file)]);
    for (const Token& token : Lex(text, branch.begin, branch.end)) {
      if (token.kind != TokenKind::kDirective) continue;
      const std::string_view directive = Spelling(text, token).substr(1);
      const std::vector<Token> words = Lex(directive);
      const std::string_view what = words.empty() ? "" : Spelling(directive, words[0]);
      if (words.size() > 1 && (what == "define" || what == "undef")) {
        names.emplace(Spelling(directive, words[1]));
      }
    }
    for (std::size_t before = 0; !names.empty() && before != names.size();) {
      before = names.size();
      for (const UserMacro& macro : unit_.source.macros) {
        for (const Token& token : Lex(macro.value)) {
          if (names.contains(std::string(Spelling(macro.value, token)))) names.insert(macro.name);
        }
      }
    }
    return names;
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

  base::Result<ParseOutcome> ParseText(const records::Kernel& kernel,
                                       const std::string& text) const {
    ParseOptions options;
    options.file_name = "closure.cu";
    options.standard = ClosureStandard(unit_.flags.preprocess.standard);
    options.system_folders = unit_.flags.preprocess.toolkit_folders;
    options.defines = {"__CUDACC__", "__NVCC__"};
    if (!unit_.flags.host_toolkit) options = ToolkitParseOptions(kernel);
    return Parse(text, options);
  }

  // The closure must stand alone: what clang cannot parse, no candidate can be built from.
  void CheckClosure(const std::string& here, records::Kernel& kernel) {
    const auto parsed = ParseText(kernel, kernel.closure_source);
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
  std::optional<CompilerCheck> compiler_;
};

}  // namespace

base::Result<protocol::ScanReply> Scan(const protocol::ScanRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  if (request.candidates_follow) {
    TRY_ASSIGN(const CommandFlags flags, TranslateCommand(request.command));
    BeginClosureHeaders(flags);
    BeginUnit(request.command, request.source_text);
  }
  // Who makes candidates of it next starts from the same.
  TRY_ASSIGN(const auto unit, LoadKeptUnit(request.command, request.source_text));
  protocol::ScanReply reply = Scanner(*unit, request).Run();
  reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

}  // namespace cupilot::source
