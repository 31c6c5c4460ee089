// Several neighbouring elements loaded as one vector where statements run for one element after the
// other: which loads can be, under which conditions, and the statements' text for one element of
// the vector. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/lower/edits.h"
#include "source/rewrite/draft.h"

namespace cupilot::source {

// The type that holds `width` elements, and how a lane is taken out of it.
struct VectorForm {
  std::string type;
  std::int64_t bytes = 0;
  std::string element;
  std::int64_t element_bytes = 0;

  std::string Lane(const std::string& vector, int lane) const;
};
std::optional<VectorForm> VectorFormOf(const std::string& element, std::int64_t element_bytes,
                                       std::int64_t width);

struct LaneLoads {
  struct Pointer {
    NodeId parameter = kNone;
    std::vector<NodeId> subscripts;
  };
  struct Term {
    NodeId condition = kNone;
    bool holds = true;
  };
  std::vector<Pointer> pointers;     // read at the thread's own element along x, and only there
  std::vector<Term> terms;           // under these conditions
  std::vector<NodeId> declarations;  // of what the conditions name, among the statements
};

// `statements` stand in one compound and know their element along x only by the global index.
// kUnsupported with the reason where none of their loads can be joined.
base::Result<LaneLoads> FindLaneLoads(const Draft& draft, std::span<const NodeId> statements);

// The widths that each pointer of them has a vector for, among those given.
std::vector<int> WidthsOf(const Draft& draft, const LaneLoads& loads, std::span<const int> widths);

// Edits of a part of the text; those of the rest are left out.
class PartEdits {
 public:
  PartEdits(const Tree& tree, NodeId part)
      : begin_(tree.at(part).begin), end_(tree.at(part).end), edits_(tree.text) {}
  void Replace(const Node& node, std::string what) {
    Replace(node.begin, node.end, std::move(what));
  }
  void Replace(std::uint32_t begin, std::uint32_t end, std::string what) {
    if (begin >= begin_ && end <= end_) edits_.Replace(begin, end, std::move(what));
  }
  std::string Apply() const { return edits_.Apply(begin_, end_); }

 private:
  std::uint32_t begin_, end_;
  Edits edits_;
};

// What stands for the element and what was loaded of it.
class LaneWriter {
 public:
  // More edits, made for each part.
  using More = std::function<void(PartEdits&)>;

  LaneWriter(const Draft& draft, const LaneLoads& loads, int width, std::string prefix, More more)
      : draft_(draft),
        loads_(loads),
        width_(width),
        prefix_(std::move(prefix)),
        more_(std::move(more)) {}

  // "uint4 v[4];\n" for `slots` vectors of each pointer.
  std::string Declarations(int slots) const;
  // Loads slot `slot` at the vector that `first` begins if `ok` and all conditions hold; says in
  // `ok` whether they do.
  std::string Load(const std::string& slot, const std::string& first, const std::string& ok) const;
  // A statement for the element at `place`: its own loads, or lane `lane` of slot `slot`.
  std::string Alone(NodeId part, const std::string& place) const;
  std::string Lane(NodeId part, const std::string& slot, const std::string& first, int lane) const;
  // aligned(p, 16) for each pointer.
  void Guard(Draft& draft) const;

 private:
  VectorForm FormOf(const LaneLoads::Pointer& pointer) const;
  std::string NameOf(const LaneLoads::Pointer& pointer) const;
  std::string Text(NodeId part, const std::string& place, const std::string* slot, int lane) const;
  std::string End(NodeId part) const;

  const Draft& draft_;
  const LaneLoads& loads_;
  int width_;
  std::string prefix_;
  More more_;
};

}  // namespace cupilot::source
