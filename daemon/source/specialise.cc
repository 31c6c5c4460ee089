#include "source/specialise.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "source/lambda.h"
#include "source/lower/edits.h"
#include "source/pack_expansion.h"
#include "source/syntax/lexer.h"
#include "source/syntax/query.h"

namespace cupilot::source {
namespace {

tl::unexpected<base::Error> Unwritten(const std::string& why) {
  return base::Fail(base::Unsupported(why));
}

base::Result<> Flatten(const std::vector<TemplateArgument>& arguments,
                       std::vector<std::string>& texts) {
  for (const TemplateArgument& argument : arguments) {
    if (argument.form == TemplateArgument::Form::kPack) {
      TRY(Flatten(argument.pack, texts));
      continue;
    }
    if (!argument.problem.empty() || argument.text.empty()) {
      return Unwritten("it is instantiated with " +
                       (argument.problem.empty() ? "what has no spelling" : argument.problem));
    }
    texts.push_back(argument.text);
  }
  return {};
}

// "const float", "float *": a declarator around it would mean something else, or it is none where
// one word is asked for.
bool IsCompound(const std::string& type) {
  return type.find_first_of("*&([") != std::string::npos || type.starts_with("const ") ||
         type.starts_with("volatile ");
}

// A type in the place of one word. `called`: "(" or "{" follows.
base::Result<std::string> TypeWord(const std::string& type, bool called) {
  const bool words = type.find(' ') != std::string::npos && type.find('<') == std::string::npos;
  if (!IsCompound(type)) {
    return words && called ? "decltype(static_cast<" + type + ">(0))" : type;
  }
  if (type.ends_with("*") && type.find_first_of("&([") == std::string::npos) {
    return "decltype(static_cast<" + type + ">(nullptr))";
  }
  return Unwritten("it is instantiated with the type '" + type +
                   "', which cannot stand for one word");
}

// The parts of an `if constexpr` by its tokens: clang leaves out what does not compile, as the
// other branch may.
class Branches {
 public:
  Branches(const Tree& tree, NodeId statement)
      : text_(tree.text),
        tokens_(Lex(tree.text, tree.at(statement).begin,
                    tree.at(EnclosingFunction(tree, statement)).end)) {
    if (Word(1) != "constexpr" || Word(2) != "(") return;
    const std::size_t first = MatchingToken(text_, tokens_, 2) + 1;
    const std::size_t behind = Skip(first);
    yes_ = {first, behind};
    no_ = Word(behind) == "else" ? Range{behind + 1, Skip(behind + 1)} : Range{behind, behind};
    decided_ = behind <= tokens_.size();
  }
  bool is_constexpr() const { return decided_; }
  // Offsets of the branch that is taken, and of the whole statement's end.
  std::pair<std::uint32_t, std::uint32_t> Taken(bool yes) const {
    const Range& range = yes ? yes_ : no_;
    if (range.begin >= range.end) return {0, 0};
    return {tokens_[range.begin].begin, tokens_[range.end - 1].end};
  }
  std::uint32_t end() const { return tokens_[std::max(yes_.end, no_.end) - 1].end; }

 private:
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  std::string_view Word(std::size_t i) const {
    return i < tokens_.size() ? Spelling(text_, tokens_[i]) : std::string_view();
  }
  // One past the statement that begins at a token.
  std::size_t Skip(std::size_t i) const {
    if (Word(i) == "{") return MatchingToken(text_, tokens_, i) + 1;
    if (Word(i) == "if" || Word(i) == "for" || Word(i) == "while" || Word(i) == "switch") {
      const std::size_t open = Word(i + 1) == "constexpr" ? i + 2 : i + 1;
      const std::size_t behind = Skip(MatchingToken(text_, tokens_, open) + 1);
      return Word(i) == "if" && Word(behind) == "else" ? Skip(behind + 1) : behind;
    }
    if (Word(i) == "do") {
      i = Skip(i + 1);
    }
    while (i < tokens_.size() && Word(i) != ";") {
      const bool opens = Word(i) == "(" || Word(i) == "[" || Word(i) == "{";
      i = opens ? MatchingToken(text_, tokens_, i) + 1 : i + 1;
    }
    return std::min(i + 1, tokens_.size());
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Range yes_, no_;
  bool decided_ = false;
};

void AddBranches(const Tree& tree, NodeId function, Edits& edits) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;
  Walk(tree, function, [&](NodeId id) {
    const Node& node = tree.at(id);
    if (node.kind != Kind::kIf) return true;
    const NodeId condition = Condition(tree, id);
    if (condition == kNone || tree.at(condition).value.empty()) return true;
    const Branches branches(tree, id);
    if (!branches.is_constexpr()) return true;
    const auto [begin, end] = branches.Taken(tree.at(condition).value != "0");
    if (begin == end) {
      edits.Replace(node.begin, branches.end(), "{}");
      return false;
    }
    // Only what is around the branch goes: those in it are looked at by themselves.
    edits.Replace(node.begin, begin, "{ ");
    edits.Replace(end, branches.end(), " }");
    return true;
  });
}

// An explicit specialisation without its "template <>" and the arguments behind its name.
base::Result<std::string> ExplicitText(const Tree& tree, const Instantiation& instantiation) {
  TRY(ArgumentTexts(instantiation));
  const Node& node = tree.at(instantiation.kernel);
  const std::uint32_t end = DeclarationEnd(tree, instantiation.kernel);
  Edits edits(tree.text);
  const std::vector<Token> tokens = Lex(tree.text, node.name_end, node.parameters_begin);
  if (!tokens.empty() && Spelling(tree.text, tokens[0]) == "<") {
    edits.Replace(node.name_end, tokens.back().end, "");
  }
  return WithoutMarkers(edits.Apply(node.begin, end));
}

}  // namespace

base::Result<std::vector<std::string>> ArgumentTexts(const Instantiation& instantiation) {
  std::vector<std::string> texts;
  TRY(Flatten(instantiation.arguments, texts));
  return texts;
}

std::vector<std::pair<std::string, std::int64_t>> IntegerArguments(
    const Tree& tree, const Instantiation& instantiation) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  const std::vector<NodeId> parameters = TemplateParameters(tree, instantiation.kernel);
  for (std::size_t i = 0; i < std::min(parameters.size(), instantiation.arguments.size()); ++i) {
    const TemplateArgument& argument = instantiation.arguments[i];
    const std::string& name = tree.at(parameters[i]).name;
    if (argument.form != TemplateArgument::Form::kValue || name.empty()) continue;
    const std::string text =
        argument.text == "true" ? "1" : (argument.text == "false" ? "0" : argument.text);
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (!text.empty() && end == text.c_str() + text.size()) values.emplace_back(name, value);
  }
  return values;
}

base::Result<std::string> SpecialisedText(const Tree& tree, const Instantiation& instantiation) {
  const Node& node = tree.at(instantiation.kernel);
  if (!Has(tree, instantiation.kernel, kTemplate)) return ExplicitText(tree, instantiation);
  const std::vector<NodeId> parameters = TemplateParameters(tree, instantiation.kernel);
  if (parameters.size() != instantiation.arguments.size()) {
    return Unwritten("it has template parameters that have no names ('auto')");
  }
  TRY(ArgumentTexts(instantiation));
  std::map<std::string, const TemplateArgument*, std::less<>> known;
  std::vector<Pack> packs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = tree.at(parameters[i]).name;
    const TemplateArgument& argument = instantiation.arguments[i];
    if (name.empty()) continue;
    if (argument.form != TemplateArgument::Form::kPack) {
      known.emplace(name, &argument);
      continue;
    }
    Pack pack{name, {}};
    for (std::size_t k = 0; k < argument.pack.size(); ++k) {
      // A name that stands for the element until all names are replaced.
      pack.elements.push_back(name + "_" + std::to_string(k) + "_of_pack");
      known.emplace(pack.elements.back(), &argument.pack[k]);
    }
    packs.push_back(std::move(pack));
  }
  const std::uint32_t end = DeclarationEnd(tree, instantiation.kernel);
  std::string text =
      WithoutMarkers(std::string_view(tree.text).substr(node.begin, end - node.begin));
  if (!packs.empty()) {
    TRY_ASSIGN(text, ExpandPacks(text, packs));
  }
  const std::vector<Token> tokens = Lex(text);
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kIdentifier) continue;
    const auto found = known.find(Spelling(text, tokens[i]));
    if (found == known.end()) continue;
    const std::string_view before = i == 0 ? "" : Spelling(text, tokens[i - 1]);
    if (before == "." || before == "->" || before == "::") continue;
    const std::string_view after = i + 1 < tokens.size() ? Spelling(text, tokens[i + 1]) : "";
    std::string word = found->second->literal;
    if (found->second->form == TemplateArgument::Form::kType) {
      TRY_ASSIGN(word, TypeWord(found->second->text, after == "(" || after == "{"));
    } else if (word.empty()) {
      word = found->second->text;
    }
    out.append(text, at, tokens[i].begin - at).append(word);
    at = tokens[i].end;
  }
  return out.append(text, at, std::string::npos);
}

base::Result<Closure> SpecialisedClosure(const Tree& tree, const Instantiation& instantiation,
                                         Closure closure, bool host_toolkit) {
  TRY_ASSIGN(const std::string text, SpecialisedText(tree, instantiation));
  const std::string& name = tree.at(instantiation.kernel).qualified;
  std::erase_if(closure.chunks, [&](const Chunk& chunk) {  // declared before it is defined
    return std::all_of(chunk.declarations.begin(), chunk.declarations.end(), [&](NodeId id) {
      return id != instantiation.kernel && Has(tree, id, kGlobalAttr | kTemplate) &&
             tree.at(id).qualified == name;
    });
  });
  const auto own = std::find_if(closure.chunks.begin(), closure.chunks.end(), [&](const Chunk& c) {
    return std::count(c.declarations.begin(), c.declarations.end(), instantiation.kernel) > 0;
  });
  if (own == closure.chunks.end() || own->declarations.size() != 1) {
    return Unwritten("its declaration stands together with others");
  }
  own->text = text;
  const auto& uses = tree.at(instantiation.uses).types_used;
  const bool behind = std::any_of(uses.begin(), uses.end(), [&](NodeId used) {
    const NodeId top = Has(tree, used, kSystem) ? kNone : TopLevel(tree, used);
    return top != kNone && top != instantiation.kernel && tree.at(top).begin > own->end;
  });
  const std::vector<const Lambda*> lambdas = LambdasOf(instantiation);
  if (behind || !lambdas.empty()) std::rotate(own, own + 1, closure.chunks.end());
  // Behind all that they may name, as they stand behind the user's whole text in a swapped source.
  for (const Lambda* lambda : lambdas) {
    closure.chunks.insert(closure.chunks.end() - 1, ChunkOf(*lambda, host_toolkit));
  }
  return closure;
}

std::string WithoutDiscardedBranches(const Tree& tree, NodeId function) {
  Edits edits(tree.text);
  AddBranches(tree, function, edits);
  return edits.Apply();
}

}  // namespace cupilot::source
