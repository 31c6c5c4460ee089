#include "source/lower/kernel_text.h"

#include <utility>

#include "host_runtime/include/cupilot_host_abi.h"
#include "source/lower/attributes.h"
#include "source/lower/place_edits.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

const std::string kVersion = std::to_string(CUPILOT_HOST_ABI_VERSION) + "u";

// A parameter list in the forms that the text needs.
struct ParameterTexts {
  std::string with_defaults;     // "const float* in, int n = 3"
  std::string without_defaults;  // "const float* in, int n"
  std::string names;             // "in, n"
  std::string addresses;         // "(void*)&in, (void*)&n, "
  std::string sizes;             // "sizeof(in), sizeof(n), "
  std::string uses;              // "(void)in; (void)n; ": against warnings
};

std::string CleanText(const Tree& tree, std::uint32_t begin, std::uint32_t end) {
  const std::string text = tree.text.substr(begin, end - begin);
  Edits edits(text);
  RemoveCudaAttributes(text, Lex(text), edits);
  return edits.Apply();
}

ParameterTexts TextsOf(const Tree& tree, NodeId kernel) {
  ParameterTexts texts;
  int index = 0;
  for (const NodeId id : Parameters(tree, kernel)) {
    const Node& node = tree.at(id);
    const std::string separator = index == 0 ? "" : ", ";
    std::uint32_t end = node.end;
    NodeId value = Initialiser(tree, id);
    // One of an earlier declaration stays there.
    if (value != kNone && (tree.at(value).begin < node.begin || tree.at(value).end > node.end)) {
      value = kNone;
    }
    if (value != kNone) {
      end = static_cast<std::uint32_t>(tree.text.rfind('=', tree.at(value).begin));
    }
    std::string name = node.name;
    std::string plain = CleanText(tree, node.begin, end);
    if (name.empty()) {
      name = "cupilot_p" + std::to_string(index);
      plain += " " + name;
    }
    const bool pack = plain.find("...") != std::string::npos;
    const std::string all = pack ? "..." : "";
    texts.without_defaults += separator + plain;
    texts.with_defaults +=
        separator + plain + (value == kNone ? "" : " = " + std::string(tree.TextOf(value)));
    texts.names += separator + name + all;
    if (!pack) texts.uses += "(void)" + name + "; ";
    texts.addresses += "(void*)&" + name + all + ", ";
    texts.sizes += "sizeof(" + name + ")" + all + ", ";
    ++index;
  }
  return texts;
}

// "template <class T, int N> " as written, and "<T, N>".
std::pair<std::string, std::string> TemplateTexts(const Tree& tree, NodeId kernel) {
  if (!Has(tree, kernel, kTemplate)) return {};
  const Node& node = tree.at(kernel);
  std::string arguments;
  for (const NodeId id : TemplateParameters(tree, kernel)) {
    const bool pack = tree.TextOf(id).find("...") != std::string_view::npos;
    arguments += (arguments.empty() ? "" : ", ") + tree.at(id).name + (pack ? "..." : "");
  }
  // A '>' within brackets is no end.
  const std::uint32_t begin = node.template_begin;
  std::uint32_t end = node.begin;
  int depth = 0, angles = 0;
  for (const Token& token : Lex(tree.text, begin, node.begin)) {
    const std::string_view word = Spelling(tree.text, token);
    if (word == "(" || word == "[" || word == "{") ++depth;
    if (word == ")" || word == "]" || word == "}") --depth;
    if (depth == 0 && word == "<") ++angles;
    if (depth == 0 && word == ">" && --angles == 0) {
      end = token.end;
      break;
    }
  }
  return {tree.text.substr(begin, end - begin) + " ", "<" + arguments + ">"};
}

// "<unsigned>" of an explicit specialisation's name.
std::string ExplicitArguments(const Tree& tree, NodeId kernel) {
  const Node& node = tree.at(kernel);
  if (Has(tree, kernel, kTemplate) || node.parameters_begin <= node.name_end) return {};
  const std::string_view between =
      std::string_view(tree.text).substr(node.name_end, node.parameters_begin - node.name_end);
  const std::size_t open = between.find('<');
  const std::size_t close = between.rfind('>');
  return open == std::string_view::npos || close == std::string_view::npos
             ? std::string()
             : std::string(between.substr(open, close + 1 - open));
}

// Without arguments behind the name they follow from the parameters, but it is no overload.
bool IsExplicit(const Tree& tree, NodeId kernel) {
  const Node& node = tree.at(kernel);
  return !Has(tree, kernel, kTemplate) && node.template_begin < node.begin;
}

std::string Suffix(const Tree& tree, NodeId kernel) {
  return tree.at(kernel).name + "_" + std::to_string(tree.at(kernel).name_begin);
}

// extern "C" __global__ void k(...): the language linkage is the declaration's own.
bool HasOwnLinkage(const Tree& tree, NodeId kernel) {
  const NodeId parent = tree.at(kernel).parent;
  if (!IsA(tree, parent, Kind::kLinkage)) return false;
  const std::string_view between = std::string_view(tree.text).substr(
      tree.at(parent).begin, tree.at(kernel).begin - tree.at(parent).begin);
  return between.find('{') == std::string_view::npos;
}

std::string Signature(const ParameterTexts& parameters) {
  return "static_cast<void (*)(" + parameters.without_defaults + ")>";
}

// What the entry hands to the loops of cupilot_host_lowered.h: a function of the thread and the
// parameters.
std::string Lambda(const ParameterTexts& parameters, const std::string& body) {
  const std::string comma = parameters.without_defaults.empty() ? "" : ", ";
  return "[](const ::cupilot_host::thread& cupilot_t" + comma + parameters.without_defaults +
         ") __attribute__((always_inline)) { " + body + " }";
}

std::string EntryText(const Tree& tree, NodeId kernel, const KernelFacts& facts,
                      const ThreadIndex& index, const ParameterTexts& parameters,
                      const std::string& head, const std::string& arguments) {
  const std::string comma = parameters.without_defaults.empty() ? "" : ", ";
  const std::string shape = "::cupilot_host::shape<" + index.width + ", " +
                            (index.flat && !facts.needs_current ? "true" : "false") + ", " +
                            (facts.needs_current ? "true" : "false") + ">";
  const std::string test = BoundsTest(tree, index);
  std::string text = head + "static int cupilot_entry_" + Suffix(tree, kernel) +
                     "(const ::cupilot_host_part* cupilot_b, void** cupilot_a) { return "
                     "::cupilot_host::" +
                     (facts.synchronises ? "run_waiting<" : "run_plain<") + shape +
                     ">(cupilot_b, cupilot_a, " + Signature(parameters) + "(0), " +
                     Lambda(parameters, "cupilot_body_" + tree.at(kernel).name + arguments +
                                            "(cupilot_t" + comma + parameters.names + ");");
  if (!facts.synchronises) {
    text += ", " + (test.empty() ? "::cupilot_host::everywhere()"
                                 : Lambda(parameters, parameters.uses + test));
  }
  return text + "); }";
}

// Threads of a block, at most; as it is written.
std::string BoundOf(const Tree& tree, NodeId kernel) {
  const std::string bound = LaunchBoundOf(tree.TextOf(kernel));
  return bound.empty() ? "1024" : "(" + bound + ")";
}

// Template kernels cannot be in a static table: an instantiation registers itself when it is first
// launched, under the compiler's description of it, which has its template arguments.
std::string LateRegistration(const Tree& tree, NodeId kernel, const KernelFacts& facts,
                             const LowerOptions& options, const ParameterTexts& parameters,
                             const std::string& handle, const std::string& entry) {
  const Node& node = tree.at(kernel);
  return "static const unsigned int cupilot_w[] = {" + parameters.sizes +
         "0}; static const ::cupilot_host_kernel cupilot_k = {\"" + node.qualified +
         "\", __PRETTY_FUNCTION__, " + handle + ", &" + entry + ", " + "(unsigned int)" +
         BoundOf(tree, kernel) + ", " + std::to_string(facts.shared_bytes) + "u, " +
         (facts.synchronises ? "1u" : "0u") +
         ", (unsigned int)(sizeof(cupilot_w) / sizeof(cupilot_w[0]) - 1), cupilot_w}; static const "
         "struct ::cupilot_host_module cupilot_m = {" +
         kVersion + ", \"" + options.architecture +
         "\", &cupilot_k, 1u, 0, 0u}; static const bool cupilot_r = "
         "(::cupilot_host_register(&cupilot_m), true); (void)cupilot_r; ";
}

// An instantiation by a lambda has a name that only it knows: a hook of the object's is told the
// function's address, before its first launch. The hook of an object without such kernels has no
// such function.
std::string NoteText(const Tree& tree, NodeId kernel, const std::string& function,
                     const ParameterTexts& parameters, const std::string& handle) {
  return "static const unsigned long cupilot_z[] = {" + parameters.sizes +
         "0}; static const bool cupilot_n = (" + function + " != 0 ? " + function + "(" + handle +
         ", \"" + tree.at(kernel).qualified + "\", ::cupilot_host::name_of<void(" +
         parameters.without_defaults +
         ")>(), cupilot_z, (unsigned)(sizeof(cupilot_z) / sizeof(cupilot_z[0]) - 1)) : (void)0, "
         "true); (void)cupilot_n; ";
}

std::string LauncherText(const Tree& tree, NodeId kernel, const KernelFacts& facts,
                         const LowerOptions& options, const ParameterTexts& parameters,
                         const std::string& head, const std::string& arguments,
                         const std::string& scope) {
  const Node& node = tree.at(kernel);
  const bool own_hook = options.launch_function != "__cudaLaunchKernel";
  // Qualified: a parameter may have the kernel's own name.
  const std::string explicit_arguments = ExplicitArguments(tree, kernel);
  const std::string handle = "(const void*)" + Signature(parameters) + "(&::" + node.qualified +
                             arguments + explicit_arguments + ")";
  std::string text;
  if (own_hook) {
    text += "extern \"C\" __attribute__((visibility(\"hidden\"))) ::cudaError_t " +
            options.launch_function +
            "(const void*, ::dim3, ::dim3, void**, ::size_t, ::cudaStream_t); ";
    if (Has(tree, kernel, kTemplate)) {
      text += "extern \"C\" __attribute__((visibility(\"hidden\"), weak)) void " +
              options.launch_function +
              "_instance(const void*, const char*, const char*, const unsigned long*, unsigned); ";
    }
  }
  text += head;
  if (HasOwnLinkage(tree, kernel)) text += "extern \"C\" ";
  if (Has(tree, kernel, kStatic)) text += "static ";
  if (Has(tree, kernel, kInline)) text += "inline ";
  if (IsExplicit(tree, kernel)) text += "template <> ";
  text += "void " + node.name + explicit_arguments + "(" + parameters.with_defaults + ") { ";
  if (Has(tree, kernel, kTemplate)) {
    text += LateRegistration(tree, kernel, facts, options, parameters, handle,
                             scope + "cupilot_entry_" + Suffix(tree, kernel) + arguments);
    if (own_hook) {
      text += NoteText(tree, kernel, options.launch_function + "_instance", parameters, handle);
    }
  }
  text +=
      "::dim3 cupilot_g, cupilot_d; ::size_t cupilot_s = 0; ::cudaStream_t cupilot_q = 0; "
      "if (::__cudaPopCallConfiguration(&cupilot_g, &cupilot_d, &cupilot_s, &cupilot_q) != "
      "::cudaSuccess) return; void* cupilot_a[] = {" +
      parameters.addresses + "(void*)0}; (void)" +
      (own_hook ? options.launch_function : "::" + options.launch_function) + "(" + handle +
      ", cupilot_g, cupilot_d, cupilot_a, cupilot_s, cupilot_q); }";
  return text;
}

// The types and the bound as written have their meaning here only, not where the table of kernels
// stands.
std::string TypeText(const Tree& tree, NodeId kernel, const ParameterTexts& parameters) {
  if (Has(tree, kernel, kTemplate)) return "";
  return " typedef void (*cupilot_type_" + Suffix(tree, kernel) + ")(" +
         parameters.without_defaults + "); enum { cupilot_bound_" + Suffix(tree, kernel) + " = " +
         BoundOf(tree, kernel) + " };";
}

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

KernelText WriteKernel(const Tree& tree, NodeId kernel, const KernelFacts& facts,
                       const ThreadIndex& index, const LowerOptions& options,
                       const std::string& structure) {
  const ParameterTexts parameters = TextsOf(tree, kernel);
  const auto [head, arguments] = TemplateTexts(tree, kernel);
  KernelText text;
  // In the original's place and with its words; only the linkage is made local.
  const bool member = !structure.empty();
  if (member) text.open = "struct " + structure + " { ";
  text.before = std::string(member && !Has(tree, kernel, kStatic) ? "static " : "") +
                std::string(Has(tree, kernel, kInline) ? "" : "inline ") +
                "__attribute__((always_inline)) ";
  text.body_name = "cupilot_body_" + tree.at(kernel).name;
  text.first_parameter = std::string("const ::cupilot_host::thread& cupilot_t") +
                         (parameters.without_defaults.empty() ? "" : ", ");
  text.after = " " +
               EntryText(tree, kernel, facts, index, parameters, head,
                         arguments + ExplicitArguments(tree, kernel)) +
               TypeText(tree, kernel, parameters) + (member ? " }; " : " ") +
               LauncherText(tree, kernel, facts, options, parameters, head, arguments,
                            member ? structure + "::" : "");
  return text;
}

std::string ModuleText(const Tree& tree, const LowerOptions& options,
                       const std::vector<NodeId>& kernels, const std::vector<NodeId>& variables,
                       const std::map<NodeId, std::string>& structures) {
  if (kernels.empty() && variables.empty() && !options.candidate) return "";
  std::string text = "\nnamespace { namespace cupilot_module {\n";
  std::string rows;
  for (const NodeId id : kernels) {
    const Node& node = tree.at(id);
    const KernelFacts facts = LoweredFactsOf(tree, id, options.thread_sanitizer);
    std::string scope = node.qualified.substr(0, node.qualified.size() - node.name.size());
    if (const auto found = structures.find(id); found != structures.end()) {
      scope += found->second + "::";
    }
    const std::string bytes = "bytes_" + std::to_string(node.name_begin);
    text += "const unsigned int " + bytes + "[] = {";
    for (const NodeId parameter : Parameters(tree, id)) {
      text += std::to_string(tree.at(parameter).type_bytes) + "u, ";
    }
    text += "0u};\n";
    rows += "  {" + Quoted(node.qualified) + ", " + Quoted(node.mangled) + ", (const void*)" +
            "static_cast< ::" + scope + "cupilot_type_" + Suffix(tree, id) +
            ">(&::" + node.qualified + ExplicitArguments(tree, id) + "), &::" + scope +
            "cupilot_entry_" + Suffix(tree, id) + ", " + "(unsigned int)::" + scope +
            "cupilot_bound_" + Suffix(tree, id) + ", " + std::to_string(facts.shared_bytes) +
            "u, " + (facts.synchronises ? "1u" : "0u") + ", " +
            std::to_string(Parameters(tree, id).size()) + "u, " + bytes + "},\n";
  }
  text +=
      "const ::cupilot_host_kernel kernels[] = {\n" + rows + "  {0, 0, 0, 0, 0, 0, 0, 0, 0}};\n";
  text += "const ::cupilot_host_variable variables[] = {\n";
  for (const NodeId id : variables) {
    const Node& node = tree.at(id);
    text += "  {" + Quoted(node.qualified) + ", (void*)&::" + node.qualified +
            ", sizeof(::" + node.qualified + "), " + (Has(tree, id, kConstantAttr) ? "1u" : "0u") +
            "},\n";
  }
  text += "  {0, 0, 0, 0}};\n} }\n";
  const std::string module = "{" + kVersion + ", " + Quoted(options.architecture) +
                             ", cupilot_module::kernels, " + std::to_string(kernels.size()) +
                             "u, cupilot_module::variables, " + std::to_string(variables.size()) +
                             "u}";
  if (options.candidate) {
    return text +
           "extern \"C\" __attribute__((visibility(\"default\"), used)) const struct "
           "cupilot_host_module cupilot_host_module;\nextern \"C\" const struct "
           "cupilot_host_module "
           "cupilot_host_module = " +
           module + ";\n";
  }
  return text +
         "namespace { namespace cupilot_module {\nconst struct ::cupilot_host_module module = " +
         module +
         ";\nstruct registration { registration() { ::cupilot_host_register(&module); } } "
         "registered;\n} }\n";
}

}  // namespace cupilot::source
