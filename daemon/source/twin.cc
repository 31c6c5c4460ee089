#include "source/twin.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source/closure_options.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"
#include "source/twin_names.h"

namespace cupilot::source {
namespace {

using protocol::TwinReply;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsPointerLike(std::string_view canonical) {
  return Contains(canonical, "*") || Contains(canonical, "[");
}

// Reasons why a text cannot be widened, found on the tree of the original.
class Obstacles {
 public:
  Obstacles(const Tree& tree, const records::Kernel& kernel) : tree_(tree), kernel_(kernel) {}

  // Empty: none.
  std::string Find() {
    const NodeId kernel = FindDefinition(tree_, kernel_.name);
    if (kernel == kNone) return "the kernel was not found in its closure";
    if (Has(tree_, kernel, kTemplate)) return "the kernel is a template";
    bool floats = false;
    for (std::size_t i = 0; i < tree_.nodes.size() && reason_.empty(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = tree_.at(id);
      if ((node.flags & kSystem) != 0) continue;
      floats = floats || MentionsFloat(node.canonical);
      Check(id, node);
    }
    for (const records::Parameter& parameter : kernel_.parameters) CheckMemory(parameter);
    if (!reason_.empty()) return reason_;
    return floats ? "" : "it does no float arithmetic";
  }

 private:
  void Decline(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
  }

  std::string Place(NodeId id) const {
    std::string text(tree_.TextOf(id));
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return "'" + text + "'";
  }

  void Check(NodeId id, const Node& node) {
    for (const std::string_view part : {"half", "bfloat16", "__nv_fp8", "nvcuda::wmma"}) {
      if (Contains(node.canonical, part)) return Decline("it uses " + node.canonical);
    }
    switch (node.kind) {
      case Kind::kAsm:
        return Decline("inline assembly");
      case Kind::kRecord:
        if (tree_.TextOf(id).starts_with("union") && MentionsFloatInside(id)) {
          Decline("a union with floating members: " + node.name);
        }
        return;
      case Kind::kCast:
        return CheckCast(id, node);
      case Kind::kCall:
        return CheckCall(id, node);
      default:
        return;
    }
  }

  bool MentionsFloatInside(NodeId root) const {
    bool found = false;
    Walk(tree_, root, [&](NodeId id) {
      found = found || MentionsFloat(tree_.at(id).canonical);
      return !found;
    });
    return found;
  }

  // The start of dynamic shared memory, alone or moved by a count of sizeof: it is widened with the
  // rest, so that floats may live there next to other things.
  bool IsDynamicShared(NodeId operand) const {
    operand = SkipParens(tree_, operand);
    if (operand == kNone) return false;
    const Node& node = tree_.at(operand);
    if (node.kind == Kind::kDeclRef) {
      return Has(tree_, node.declaration, kExtern | kSharedAttr);
    }
    if (node.kind == Kind::kBinary && node.name == "+" &&
        Contains(tree_.TextOf(operand), "sizeof")) {
      return IsDynamicShared(Child(tree_, operand, 0));
    }
    return false;
  }

  void CheckCast(NodeId id, const Node& node) {
    if ((node.flags & kDependent) != 0) return;
    const NodeId operand = Child(tree_, id, 0);
    if (operand == kNone) return;
    const std::string& from = tree_.at(SkipParens(tree_, operand)).canonical;
    const bool in_memory = (IsPointerLike(node.canonical) && IsPointerLike(from)) ||
                           tree_.TextOf(id).starts_with("reinterpret_cast");
    if (!in_memory || MentionsFloat(node.canonical) == MentionsFloat(from)) return;
    if (IsDynamicShared(operand)) return;
    Decline("a cast between floats and other types in memory: " + Place(id));
  }

  void CheckCall(NodeId id, const Node& node) {
    std::string_view name = node.name;
    if (name.starts_with("__builtin_")) name.remove_prefix(10);
    if (name == "__float_as_int" || name == "__float_as_uint" || Contains(name, "bit_cast")) {
      return Decline("it reads the bits of a float: " + Place(id));
    }
    if (name == "__int_as_float" || name == "__uint_as_float") {
      const std::vector<NodeId> arguments = Arguments(tree_, id);
      const NodeId bits = arguments.empty() ? kNone : SkipParens(tree_, arguments[0]);
      // A constant (infinity, not-a-number) keeps its value in double.
      if (!IsA(tree_, bits, Kind::kIntLiteral)) {
        Decline("it makes a float from bits: " + Place(id));
      }
      return;
    }
    if (name == "memcpy" || name == "memmove") {
      const std::vector<NodeId> arguments = Arguments(tree_, id);
      if (arguments.size() < 2) return;
      const bool to = MentionsFloat(tree_.at(SkipParens(tree_, arguments[0])).canonical);
      const bool from = MentionsFloat(tree_.at(SkipParens(tree_, arguments[1])).canonical);
      if (to != from) Decline("it copies floats to or from another type: " + Place(id));
    }
  }

  // Buffers and arguments are widened element by element, which structures are not made of.
  void CheckMemory(const records::Parameter& parameter) {
    const bool pointer = parameter.kind == records::ParameterKind::kPointer;
    const std::string& type = pointer ? parameter.element : parameter.canonical;
    if (MentionsFloat(type)) {
      if (Contains(type, "*")) Decline("pointers to pointers to floats: " + parameter.name);
      return;
    }
    std::string name = type;
    for (const std::string_view prefix : {"const ", "volatile ", "struct ", "class ", "::"}) {
      if (name.starts_with(prefix)) name = name.substr(prefix.size());
    }
    const NodeId record = FindDefinition(tree_, name, Kind::kRecord);
    if (record != kNone && MentionsFloatInside(record)) {
      Decline("a structure with floating members in an argument: " + parameter.name);
    }
  }

  const Tree& tree_;
  const records::Kernel& kernel_;
  std::string reason_;
};

bool IsFloatLiteral(std::string_view text) {
  if (!text.ends_with('f') && !text.ends_with('F')) return false;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view marks = hexadecimal ? std::string_view("pP") : std::string_view(".eE");
  return text.find_first_of(marks) != std::string_view::npos;
}

// The text with types, functions and literals exchanged, token by token.
class Widener {
 public:
  Widener(const Tree& tree) : text_(tree.text), tokens_(Lex(tree.text)) {
    for (const Node& node : tree.nodes) {
      if (node.kind == Kind::kFunction && (node.flags & kSystem) == 0) declared_.insert(node.name);
    }
  }

  std::string Text() {
    std::uint32_t copied = 0;
    std::uint32_t helpers_at = 0;  // behind the last #include
    std::string out;
    std::size_t helpers_in_out = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::kDirective) {
        if (!Contains(Spelling(text_, token), "include")) continue;
        out.append(text_, copied, token.end - copied);
        copied = helpers_at = token.end;
        helpers_in_out = out.size();
        continue;
      }
      const std::string replacement = Replacement(i);
      if (replacement.empty()) continue;
      const std::uint32_t begin = BeginWithoutStd(i, replacement);
      out.append(text_, copied, begin - copied);
      out += replacement;
      copied = token.end;
    }
    out.append(text_, copied, std::string::npos);
    std::string helpers = helpers_at == 0 ? "" : "\n";
    for (const auto& [name, definition] : helpers_) helpers += definition;
    out.insert(helpers_in_out, helpers);
    return out;
  }

 private:
  std::string_view Word(std::size_t index) const {
    return index < tokens_.size() ? Spelling(text_, tokens_[index]) : std::string_view();
  }

  bool AfterMember(std::size_t i) const {
    return i > 0 && (Word(i - 1) == "." || Word(i - 1) == "->");
  }

  // "std::expf" becomes the helper alone, which is in no namespace.
  std::uint32_t BeginWithoutStd(std::size_t i, const std::string& replacement) const {
    const bool qualified = i >= 2 && Word(i - 1) == "::" && Word(i - 2) == "std";
    if (!qualified || !replacement.starts_with("cupilot_twin_")) return tokens_[i].begin;
    return tokens_[i - 2].begin;
  }

  std::string Replacement(std::size_t i) {
    const std::string_view word = Word(i);
    if (tokens_[i].kind == TokenKind::kNumber) {
      // The constant keeps the value that it has as a float.
      return IsFloatLiteral(word) ? "((double)" + std::string(word) + ")" : "";
    }
    if (tokens_[i].kind != TokenKind::kIdentifier || AfterMember(i)) return {};
    // Limits of float are values that the program means: they convert exactly.
    if (word == "float" && i >= 2 && Word(i - 1) == "<" && Word(i - 2) == "numeric_limits") {
      return {};
    }
    std::string type = DoubleType(word);
    if (!type.empty()) return type;
    if (declared_.contains(std::string(word))) return {};
    DoubleFunction function = DoubleOf(word);
    if (function.name.empty()) return {};
    helpers_[function.name] = function.definition;
    return function.name;
  }

  const std::string& text_;
  std::vector<Token> tokens_;
  std::set<std::string> declared_;
  std::map<std::string, std::string> helpers_;
};

bool GivesExactFloat(std::string_view name) {
  for (const std::string_view known :
       {"__int_as_float", "__uint_as_float", "max", "min", "lowest", "infinity", "quiet_NaN",
        "signaling_NaN", "__builtin_inff", "__builtin_huge_valf", "__builtin_nanf"}) {
    if (name == known) return true;
  }
  return false;
}

// What still is float in the twin, by its text; empty: nothing.
std::string Remainder(const Tree& tree) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const Node& node = tree.at(id);
    if ((node.flags & kSystem) != 0 || !MentionsFloat(node.canonical)) continue;
    switch (node.kind) {
      case Kind::kVariable:
      case Kind::kParameter:
      case Kind::kField:
      case Kind::kCast:
        return std::string(tree.TextOf(id));
      case Kind::kCall:
        if (!GivesExactFloat(node.name)) return std::string(tree.TextOf(id));
        break;
      default:
        break;
    }
  }
  return {};
}

TwinReply Declined(std::string reason) {
  TwinReply reply;
  reply.declined = true;
  reply.reason = std::move(reason);
  return reply;
}

bool WidensShared(const Tree& original) {
  bool found = false;
  for (std::size_t i = 0; i < original.nodes.size(); ++i) {
    const Node& node = original.nodes[i];
    if (node.kind != Kind::kVariable || (node.flags & kSystem) != 0) continue;
    if ((node.flags & (kExtern | kSharedAttr)) != (kExtern | kSharedAttr)) continue;
    // Raw bytes hold floats too where the text casts them; doubling more than needed does no harm.
    found = found || MentionsFloat(node.canonical) || Contains(node.canonical, "char");
  }
  return found;
}

void DescribeMemory(const Tree& original, const records::Kernel& kernel, TwinReply& reply) {
  for (const records::Parameter& parameter : kernel.parameters) {
    const bool pointer = parameter.kind == records::ParameterKind::kPointer;
    reply.widened.push_back(MentionsFloat(pointer ? parameter.element : parameter.canonical));
  }
  for (const records::ClosureGlobal& global : kernel.globals) {
    if (MentionsFloat(global.element)) reply.widened_globals.push_back(global.symbol);
  }
  reply.widened_shared = WidensShared(original);
}

}  // namespace

base::Result<TwinReply> Twin(const protocol::TwinRequest& request) {
  const records::Kernel& kernel = request.kernel;
  TRY_ASSIGN(const ParseOutcome original, ParseClosure(kernel, kernel.closure_source));
  if (!original.errors.empty()) {
    return Declined("its closure does not parse: " + FirstError(original));
  }
  const std::string obstacle = Obstacles(original.tree, kernel).Find();
  if (!obstacle.empty()) return Declined(obstacle);

  TwinReply reply;
  reply.source = Widener(original.tree).Text();
  reply.entry = kernel.name;
  TRY_ASSIGN(const ParseOutcome twin, ParseClosure(kernel, reply.source));
  if (!twin.errors.empty()) {
    return Declined("the widened text does not parse: " + FirstError(twin));
  }
  const std::string remainder = Remainder(twin.tree);
  if (!remainder.empty()) return Declined("no double form is known of: " + remainder);
  DescribeMemory(original.tree, kernel, reply);
  return reply;
}

}  // namespace cupilot::source
