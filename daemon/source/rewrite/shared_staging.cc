// Elements on their way through a tile of shared memory, where a kernel reads along rows of memory
// and writes across them, or the other way: a transpose is the plain case. What runs across is
// moved by threads with the roles of x and y exchanged, so that all accesses of a warp are
// neighbours. The method is that of Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA"
// (2009): square tiles, rows longer by what puts a column into different banks, several rows a
// thread.
#include <algorithm>
#include <utility>

#include "source/rewrite/alias.h"
#include "source/rewrite/guarded_body.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"
#include "source/rewrite/shared_memory.h"
#include "source/rewrite/slopes.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kStagedAtMost = 4;  // accesses that get a tile

struct StagedAccess {
  NodeId subscript = kNone;
  NodeId store = kNone;        // the assignment whose target it is, kNone for a load
  std::vector<NodeId> places;  // declarations between the guards and it that it may use
  std::string element;
  std::int64_t bytes = 0;
};

struct StagingPlan {
  GuardedBody body;
  std::vector<StagedAccess> staged;
};

class StagingReader {
 public:
  explicit StagingReader(const Draft& draft)
      : draft_(draft), tree_(draft.tree), facts_(draft.facts) {}

  base::Result<StagingPlan> Read() {
    TRY(CheckFreePlace(draft_));
    TRY(CheckRepeatable(draft_));
    if (facts_.device_effects || facts_.writes_unknown) {
      return Declined("it writes where that cannot be followed");
    }
    StagingPlan plan;
    plan.body = ReadBody(draft_);
    for (const NodeId id : plan.body.work) {
      if (FindBelow(tree_, id, [&](NodeId at) { return IsA(tree_, at, Kind::kReturn); }) != kNone) {
        return Declined("it ends early by a condition of its own");
      }
    }
    std::vector<NodeId> places;
    for (const NodeId statement : plan.body.work) {
      for (const NodeId id : FindAll(tree_, statement, Kind::kSubscript)) {
        Look(id, statement, places, plan);
      }
      if (DeclaresPlaces(draft_, statement)) places.push_back(statement);
    }
    if (plan.staged.empty()) {
      return Declined(reason_.empty() ? "no access runs across memory along threadIdx.x" : reason_);
    }
    if (!along_) return Declined("all of its accesses run across memory along threadIdx.x alike");
    if (static_cast<std::int64_t>(plan.staged.size()) > kStagedAtMost) {
      return Declined("too many of its accesses run across memory");
    }
    TRY(CheckDisjoint(draft_));
    return plan;
  }

 private:
  void Look(NodeId subscript, NodeId statement, const std::vector<NodeId>& places,
            StagingPlan& plan) {
    const NodeId base = Child(tree_, subscript, 0);
    const NodeId pointer = PointerOf(draft_, base);
    if (pointer == kNone) return;
    const Slope x = SlopeOf(draft_, {.axis = 'x'}, Child(tree_, subscript, 1));
    const Slope y = SlopeOf(draft_, {.axis = 'y'}, Child(tree_, subscript, 1));
    const Slope base_x = SlopeOf(draft_, {.axis = 'x'}, base);
    const Slope base_y = SlopeOf(draft_, {.axis = 'y'}, base);
    if (x.IsOne() && base_x.IsNone()) along_ = true;
    const bool far = (x.IsFar() && base_x.known) || (x.known && base_x.IsFar());
    const bool near = (y.IsOne() && base_y.IsNone()) || (y.IsNone() && base_y.IsOne());
    if (!far || !near) return;
    const std::string& name = tree_.at(pointer).name;
    StagedAccess access;
    access.subscript = subscript;
    access.places = places;
    access.element = tree_.at(pointer).element;
    access.bytes = tree_.at(pointer).element_bytes;
    if (!IsSharedElement(access.element)) {
      return Reason("'" + name + "' has elements of a type of its own");
    }
    if (!IsOfPlace(draft_, base) || !IsOfPlace(draft_, Child(tree_, subscript, 1))) {
      return Reason("the place in '" + name + "' depends on what is computed");
    }
    if (facts_.written.count(pointer) == 0) {
      // The addresses of elements are no loads.
      const NodeId parent = tree_.at(subscript).parent;
      if (IsA(tree_, parent, Kind::kUnary) && tree_.at(parent).name == "&") return;
      if (!IsDoneAlways(tree_, subscript, statement)) {
        return Reason("whether '" + name + "' is read depends on a condition of its own");
      }
      plan.staged.push_back(access);
      return;
    }
    if (!IsA(tree_, statement, Kind::kAssign) ||
        SkipParens(tree_, TargetOf(tree_, statement)) != subscript) {
      return Reason("'" + name + "' is not only written, once and in all cases");
    }
    if (UsesOf(draft_, pointer) != 1) return Reason("'" + name + "' is used more than once");
    access.store = statement;
    plan.staged.push_back(access);
  }

  void Reason(const std::string& why) {
    if (reason_.empty()) reason_ = why;
  }

  const Draft& draft_;
  const Tree& tree_;
  const Facts& facts_;
  bool along_ = false;  // an access of neighbours
  std::string reason_;
};

struct StagingShape {
  std::int64_t tile = 32;
  std::int64_t rows = 4;  // of a tile, for each thread
  std::int64_t threads() const { return tile * tile / rows; }
};

std::int64_t RowLength(const StagedAccess& access, std::int64_t tile) {
  // An odd number of words: a column's elements are in different banks then.
  return tile + std::max<std::int64_t>(1, 4 / access.bytes);
}

std::int64_t SharedBytes(const StagingPlan& plan, const StagingShape& shape) {
  std::int64_t bytes = 0;
  for (const StagedAccess& access : plan.staged) {
    bytes += shape.tile * RowLength(access, shape.tile) * access.bytes;
  }
  return bytes;
}

base::Result<> CheckShape(const Draft& draft, const StagingPlan& plan, const StagingShape& shape) {
  const bool known = shape.tile == 8 || shape.tile == 16 || shape.tile == 32 || shape.tile == 64;
  if (!known) return base::Fail(base::InvalidArgument("tile must be 8, 16, 32 or 64"));
  if (shape.rows < 1 || shape.rows > shape.tile || shape.tile % shape.rows != 0) {
    return base::Fail(base::InvalidArgument("rows must divide the tile"));
  }
  if (shape.threads() > 1024) return base::Fail(base::InvalidArgument("more than 1024 threads"));
  if (SharedBytes(plan, shape) > kDeclaredSharedBytes) {
    return Declined("its tiles do not fit into shared memory");
  }
  return CheckCover(draft, plan.body, {shape.tile, shape.tile});
}

class StagingWriter {
 public:
  StagingWriter(const Draft& draft, const StagingPlan& plan, const StagingShape& shape)
      : draft_(draft),
        tree_(draft.tree),
        plan_(plan),
        tile_(std::to_string(shape.tile)),
        apart_(std::to_string(shape.tile / shape.rows)),
        shape_(shape),
        prefix_(FreshPrefix(draft.tree, "tile")) {}

  std::string Run() const {
    std::string text = "{\n", loads, stores;
    for (std::size_t i = 0; i < plan_.staged.size(); ++i) {
      const StagedAccess& access = plan_.staged[i];
      text += "__shared__ " + access.element + " " + Name(i) + "[" + tile_ + "][" +
              std::to_string(RowLength(access, shape_.tile)) + "];\n";
      if (access.store == kNone) {
        loads += Exchanged(access, Across(i) + " = " + Element(access) + ";\n");
      } else {
        stores += Exchanged(access, Element(access) + " = " + Across(i) + ";\n");
      }
    }
    text += "const unsigned int " + prefix_ + "_x = blockIdx.x * " + tile_ + "u, " + prefix_ +
            "_y = blockIdx.y * " + tile_ + "u;\n";
    if (!loads.empty()) text += Rows(loads) + "__syncthreads();\n";
    text += Rows(Work());
    if (!stores.empty()) text += "__syncthreads();\n" + Rows(stores);
    return text + "}";
  }

 private:
  std::string Name(std::size_t i) const { return prefix_ + "_" + std::to_string(i); }
  std::string Row() const { return prefix_ + "_r"; }
  // The element of a thread that works on its own place, and on the exchanged one.
  std::string Along(std::size_t i) const {
    return Name(i) + "[threadIdx.y + " + Row() + "][threadIdx.x]";
  }
  std::string Across(std::size_t i) const {
    return Name(i) + "[threadIdx.x][threadIdx.y + " + Row() + "]";
  }
  PlaceText Own() const {
    return {prefix_ + "_x + threadIdx.x", prefix_ + "_y + threadIdx.y + " + Row()};
  }
  PlaceText ExchangedPlace() const {
    return {prefix_ + "_x + threadIdx.y + " + Row(), prefix_ + "_y + threadIdx.x"};
  }
  std::string Rows(const std::string& text) const {
    return "for (unsigned int " + Row() + " = 0; " + Row() + " < " + tile_ + "u; " + Row() +
           " += " + apart_ + "u) {\n" + text + "}\n";
  }

  std::string Element(const StagedAccess& access) const {
    return TextAt(draft_, access.subscript, ExchangedPlace());
  }

  std::string Exchanged(const StagedAccess& access, const std::string& moved) const {
    std::string inner;
    for (const NodeId id : access.places) inner += TextAt(draft_, id, ExchangedPlace()) + "\n";
    return GuardedText(draft_, plan_.body, ExchangedPlace(), inner + moved);
  }

  std::string Work() const {
    std::string text;
    for (const NodeId id : plan_.body.work) {
      text += TextAt(draft_, id, Own(),
                     [&](NodeId at, Edits& edits) {
                       for (std::size_t i = 0; i < plan_.staged.size(); ++i) {
                         if (plan_.staged[i].subscript != at) continue;
                         edits.Replace(tree_.at(at).begin, tree_.at(at).end, Along(i));
                         return true;
                       }
                       return false;
                     }) +
              ";\n";
    }
    return GuardedText(draft_, plan_.body, Own(), text);
  }

  const Draft& draft_;
  const Tree& tree_;
  const StagingPlan& plan_;
  const std::string tile_, apart_;
  const StagingShape shape_;
  const std::string prefix_;
};

}  // namespace

base::Result<std::vector<Json>> ProposeStaging(const Draft& draft) {
  TRY_ASSIGN(const StagingPlan plan, StagingReader(draft).Read());
  if (draft.device == "host") {
    return Declined("on the host device shared memory is memory like any other");
  }
  std::vector<Json> parameters;
  base::Result<> last;
  for (const auto& [tile, rows] : {std::pair<std::int64_t, std::int64_t>{32, 4},
                                   {64, 16},
                                   {32, 8},
                                   {64, 8},
                                   {32, 2},
                                   {32, 1},
                                   {16, 4}}) {
    last = CheckShape(draft, plan, {tile, rows});
    if (last) parameters.push_back(Json{{"tile", tile}, {"rows", rows}});
  }
  if (parameters.empty() && !last) return base::Fail(last.error());
  return parameters;
}

base::Result<std::string> ApplyStaging(Draft& draft, const Json& parameters) {
  TRY(StagingReader(draft).Read());
  TRY(NormalisePlace(draft));
  TRY_ASSIGN(const StagingPlan plan, StagingReader(draft).Read());
  StagingShape shape;
  TRY_ASSIGN(shape.tile, IntegerOf(parameters, "tile", 32));
  TRY_ASSIGN(shape.rows, IntegerOf(parameters, "rows", std::min<std::int64_t>(4, shape.tile)));
  TRY(CheckShape(draft, plan, shape));
  const std::string text = StagingWriter(draft, plan, shape).Run();
  Edits edits(draft.tree.text);
  const Node& at = draft.tree.at(draft.facts.body);
  edits.Replace(at.begin, at.end, text);
  TRY(CoverInTiles(draft, plan.body, {shape.tile, shape.tile},
                   {shape.tile, shape.tile / shape.rows}));
  TRY(Change(draft, edits));
  const std::string side = std::to_string(shape.tile);
  return "staged through tiles of " + side + " x " + side + " in shared memory, " +
         std::to_string(shape.rows) + " rows a thread";
}

}  // namespace cupilot::source
