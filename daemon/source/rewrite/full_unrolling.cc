// Nests of loops of constant lengths, written out: the compiler sees all elements that their
// iterations read, and loads those that several iterations share once. It unrolls innermost loops
// by itself, and stops there (Volkov, Better performance at lower occupancy, on what registers save
// in shared memory and caches).
#include <algorithm>

#include "source/rewrite/constant_nests.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/loops.h"
#include "source/rewrite/mechanical.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kMostCopies = 256;         // of an innermost body
constexpr std::size_t kMostCharacters = 200'000;  // of text

struct ConstantLoop {
  CountingLoop loop;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

std::optional<std::int64_t> KnownValue(const Tree& tree, NodeId expression) {
  const NodeId id = SkipParens(tree, expression);
  if (id == kNone || tree.at(id).value.empty() || tree.at(id).value.size() > 9) return std::nullopt;
  return std::stoll(tree.at(id).value);
}

std::optional<ConstantLoop> ReadConstantLoop(const Draft& draft, NodeId id) {
  const auto loop = ReadLoop(draft, id);
  if (!loop || !JumpIn(draft, loop->body).empty()) return std::nullopt;
  const auto first = KnownValue(draft.tree, loop->start);
  const auto bound = KnownValue(draft.tree, loop->bound);
  if (!first || !bound) return std::nullopt;
  const std::int64_t span = *bound - *first + (loop->inclusive ? loop->step : loop->step - 1);
  return ConstantLoop{*loop, *first, span <= 0 ? 0 : span / loop->step};
}

// How many copies of innermost bodies there will be; 0 for nests that cannot be written out.
std::int64_t CopiesOf(const Draft& draft, NodeId id) {
  const auto loop = ReadConstantLoop(draft, id);
  if (!loop || loop->count < 1) return 0;
  std::int64_t inner = 1;
  bool fits = true;
  Walk(draft.tree, loop->loop.body, [&](NodeId at) {
    if (!IsLoop(draft.tree.at(at).kind)) return true;
    const std::int64_t copies = CopiesOf(draft, at);
    fits = fits && copies > 0;
    inner = std::max(inner, copies);
    return false;
  });
  return fits && inner * loop->count <= kMostCopies ? inner * loop->count : 0;
}

bool HasLoopBelow(const Tree& tree, NodeId root) {
  return FindBelow(tree, root, [&](NodeId at) { return IsLoop(tree.at(at).kind); }) != kNone;
}

// A loop's node ends before the semicolon of its body.
std::uint32_t EndOf(const Tree& tree, NodeId loop) {
  const std::size_t next = tree.text.find_first_not_of(" \n", tree.at(loop).end);
  const bool semicolon = next != std::string::npos && tree.text[next] == ';';
  return semicolon ? static_cast<std::uint32_t>(next + 1) : tree.at(loop).end;
}

std::string WrittenOut(const Draft& draft, NodeId id) {
  const Tree& tree = draft.tree;
  const auto loop = ReadConstantLoop(draft, id);
  if (!loop) return std::string(tree.TextOf(id));
  Edits edits(tree.text);
  Walk(tree, loop->loop.body, [&](NodeId at) {
    if (!IsLoop(tree.at(at).kind)) return true;
    edits.Replace(tree.at(at).begin, EndOf(tree, at), WrittenOut(draft, at));
    return false;
  });
  const Node& body = tree.at(loop->loop.body);
  const bool inner = IsLoop(body.kind);
  const std::string once = edits.Apply(body.begin, inner ? EndOf(tree, loop->loop.body) : body.end);
  std::string type = tree.at(loop->loop.variable).canonical;
  if (!type.starts_with("const ")) type = "const " + type;
  std::string text = "{\n";
  for (std::int64_t i = 0; i < loop->count; ++i) {
    text += "{\n" + type + " " + tree.at(loop->loop.variable).name + " = " +
            std::to_string(loop->first + i * loop->loop.step) + ";\n" + once +
            (body.kind == Kind::kCompound || inner ? "\n" : ";\n") + "}\n";
  }
  return text + "}\n";
}

}  // namespace

base::Result<std::vector<NodeId>> ConstantNests(const Draft& draft) {
  const Tree& tree = draft.tree;
  std::vector<NodeId> nests;
  bool any = false;
  Walk(tree, draft.facts.body, [&](NodeId id) {
    if (!IsLoop(tree.at(id).kind)) return true;
    any = true;
    const bool nest = HasLoopBelow(tree, LoopBody(tree, id));
    if (nest && CopiesOf(draft, id) > 0) {
      nests.push_back(id);
      return false;
    }
    return true;
  });
  if (nests.empty()) {
    return Declined(any ? "it has no nest of loops of small constant lengths" : "it has no loop");
  }
  return nests;
}

base::Result<> WriteOutNests(Draft& draft) {
  TRY_ASSIGN(const std::vector<NodeId> nests, ConstantNests(draft));
  Edits edits(draft.tree.text);
  std::size_t length = 0;
  for (const NodeId id : nests) {
    const std::string text = WrittenOut(draft, id);
    length += text.size();
    edits.Replace(draft.tree.at(id).begin, EndOf(draft.tree, id), text);
  }
  if (length > kMostCharacters) return Declined("its loops written out are too long");
  return Change(draft, edits);
}

base::Result<std::vector<Json>> ProposeFullUnrolling(const Draft& draft) {
  TRY(ConstantNests(draft));
  return std::vector<Json>{Json::object()};
}

base::Result<std::string> ApplyFullUnrolling(Draft& draft, const Json&) {
  TRY(WriteOutNests(draft));
  return std::string("loops of constant lengths written out");
}

}  // namespace cupilot::source
