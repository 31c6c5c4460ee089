// A loop in which the threads of a block read the same elements, cut into tiles: the block loads
// each tile into shared memory together, and each thread then computes several outputs, whose
// operands it keeps in registers. The method of Volkov and Demmel, "Benchmarking GPUs to Tune Dense
// Linear Algebra" (2008), and of Nath, Tomov and Dongarra, "An Improved MAGMA GEMM for Fermi"
// (2010): outputs in registers, and the next tile on its way while one is used. Each output's steps
// keep their order.
#include <algorithm>
#include <array>

#include "source/rewrite/alias.h"
#include "source/rewrite/inspect.h"
#include "source/rewrite/mechanical.h"
#include "source/rewrite/parameters.h"
#include "source/rewrite/place.h"
#include "source/rewrite/shared_memory.h"
#include "source/rewrite/slopes.h"
#include "source/rewrite/tiling.h"

namespace cupilot::source {
namespace {

using records::Json;

constexpr std::int64_t kOutputBytes = 256;  // what a thread's registers can hold of outputs

bool HasBelow(const Tree& tree, NodeId root, const std::function<bool(NodeId)>& is) {
  return FindBelow(tree, root, is) != kNone;
}

// It stops the program, on a processor, where the divisor is an element that is not there.
bool DividesIntegers(const Tree& tree, NodeId root) {
  return HasBelow(tree, root, [&](NodeId id) {
    const Node& node = tree.at(id);
    const bool divides =
        (node.kind == Kind::kBinary && (node.name == "/" || node.name == "%")) ||
        (node.kind == Kind::kCompoundAssign && (node.name == "/=" || node.name == "%="));
    if (!divides || !IsIntegerType(node.canonical)) return false;
    const std::string& divisor = tree.at(SkipParens(tree, Child(tree, id, 1))).value;
    return divisor.empty() || divisor == "0" || divisor == "-1";
  });
}

class TilingReader {
 public:
  explicit TilingReader(const Draft& draft)
      : draft_(draft), tree_(draft.tree), facts_(draft.facts) {}

  base::Result<TilingPlan> Read() {
    TRY(CheckFreePlace(draft_));
    TRY(CheckRepeatable(draft_));
    if (facts_.device_effects || facts_.writes_unknown) {
      return Declined("it writes where that cannot be followed");
    }
    plan_.body = ReadBody(draft_);
    TRY(ReadWork());
    TRY(ReadLoopHead());
    TRY(ReadState());
    TRY(ReadSteps());
    TRY(CheckOperands());
    TRY(UpperBounds(draft_, plan_.body));
    TRY(CheckDisjoint(draft_));
    return plan_;
  }

 private:
  base::Result<> ReadWork() {
    for (const NodeId id : plan_.body.work) {
      if (HasBelow(tree_, id, [&](NodeId at) { return IsA(tree_, at, Kind::kReturn); })) {
        return Declined("it ends early by a condition of its own");
      }
      const bool loops = HasBelow(tree_, id, [&](NodeId at) { return IsLoop(tree_.at(at).kind); });
      if (loops && (loop_ != kNone || !IsA(tree_, id, Kind::kFor))) {
        return Declined("its work is not one loop with what comes before and after");
      }
      if (loops) {
        loop_ = id;
      } else if (loop_ != kNone) {
        plan_.after.push_back(id);
      } else if (DeclaresPlaces(draft_, id)) {
        plan_.places.push_back(id);
      } else {
        plan_.before.push_back(id);
      }
    }
    return loop_ == kNone ? base::Result<>(Declined("it has no loop")) : base::Result<>{};
  }

  static std::string WithoutConst(const std::string& type) {
    return type.starts_with("const ") ? type.substr(6) : type;
  }

  base::Result<> ReadLoopHead() {
    TRY_ASSIGN(plan_.loop, ReadLoop(draft_, loop_));
    const CountingLoop& loop = plan_.loop;
    const Node& bound = tree_.at(SkipParens(tree_, loop.bound));
    const std::string type = WithoutConst(tree_.at(loop.variable).canonical);
    const std::string& start = tree_.at(SkipParens(tree_, loop.start)).value;
    if (loop.step != 1 || loop.inclusive) return Declined("its loop does not count in ones");
    if (start.empty() || start[0] == '-') return Declined("its loop does not start at a number");
    if (bound.value.empty() && WithoutConst(bound.canonical) != type) {
      return Declined("its loop's counter and bound are of different types");
    }
    const bool local = HasBelow(tree_, loop.bound, [&](NodeId id) {
      const NodeId variable = VariableOf(tree_, id);
      return (variable != kNone && IsLocalVariable(tree_, facts_, variable)) ||
             IsBuiltInVariable(tree_, id);
    });
    if (local || !IsOfPlace(draft_, loop.bound)) {
      return Declined("its loop's length is not the same for all threads");
    }
    const std::string jump = JumpIn(draft_, loop.body);
    if (!jump.empty()) return Declined("its loop has a '" + jump + "'");
    if (HasBelow(tree_, loop.body, [&](NodeId id) { return IsLoop(tree_.at(id).kind); })) {
      return Declined("its loop has loops inside");
    }
    if (IsA(tree_, loop.body, Kind::kCompound)) {
      plan_.steps = tree_.at(loop.body).children;
    } else {
      plan_.steps = {loop.body};
    }
    return {};
  }

  // What each output has for its own: all that is declared before the loop and is no place.
  base::Result<> ReadState() {
    for (const NodeId id : plan_.before) {
      if (StoresMemory(tree_, facts_, id)) return Declined("it writes memory before its loop");
      if (IsModification(tree_, id)) continue;
      if (!IsA(tree_, id, Kind::kDeclStatement)) {
        return Declined("it does more before its loop than to set variables");
      }
      for (const NodeId variable : tree_.at(id).children) {
        const std::string& name = tree_.at(variable).name;
        const bool plain = IsA(tree_, variable, Kind::kVariable) &&
                           IsLocalVariable(tree_, facts_, variable) &&
                           tree_.at(variable).type_class != TypeClass::kRecord &&
                           IsSharedElement(WithoutConst(tree_.at(variable).canonical)) &&
                           facts_.address_taken.count(variable) == 0;
        if (!plain) return Declined("'" + name + "' is no plain number");
        plan_.state.push_back(variable);
      }
    }
    return {};
  }

  base::Result<> ReadSteps() {
    if (StoresMemory(tree_, facts_, plan_.loop.body)) return Declined("its loop writes memory");
    for (const NodeId step : plan_.steps) {
      if (DividesIntegers(tree_, step)) return Declined("its loop divides integers");
      if (HasBelow(tree_, step, [&](NodeId id) {
            return IsA(tree_, id, Kind::kVariable) && Has(tree_, id, kReference);
          })) {
        return Declined("its loop has a reference");
      }
      TRY(ReadOperands(step));
    }
    plan_.steps_use_places = UsesPlaces();
    if (!plan_.steps_use_places) return {};
    std::vector<NodeId> declared = plan_.places;
    for (const GuardedBody::Step& step : plan_.body.steps) {
      if (step.declares != kNone) declared.push_back(step.declares);
    }
    for (const NodeId id : declared) {
      if (DividesIntegers(tree_, id)) return Declined("its place is divided");
    }
    return {};
  }

  base::Result<> ReadOperands(NodeId step) {
    std::string reason;
    Walk(tree_, step, [&](NodeId id) {
      if (!reason.empty()) return false;
      const Node& node = tree_.at(id);
      const bool reaches = node.kind == Kind::kSubscript || node.kind == Kind::kMember ||
                           node.kind == Kind::kUnary || node.kind == Kind::kDeclRef ||
                           node.kind == Kind::kCall || node.kind == Kind::kMemberCall;
      if (!reaches || !LoadsMemory(tree_, facts_, id)) return true;
      if (node.kind == Kind::kSubscript) {
        reason = ReadOperand(id, step);
        return false;
      }
      const bool looks_below = node.kind == Kind::kUnary    ? node.name != "*" && node.name != "&"
                               : node.kind == Kind::kMember ? !Has(tree_, id, kArrow)
                               : node.kind == Kind::kCall   ? UserCallee(tree_, id) == kNone
                                                            : false;
      if (!looks_below) {
        reason = "its loop reads memory in another way: '" + std::string(tree_.TextOf(id)) + "'";
      }
      return looks_below;
    });
    return reason.empty() ? base::Result<>{} : base::Result<>(Declined(reason));
  }

  // The reason why the load cannot be one of a tile, else "".
  std::string ReadOperand(NodeId subscript, NodeId step) {
    const std::string text(tree_.TextOf(subscript));
    const NodeId base = Child(tree_, subscript, 0), index = Child(tree_, subscript, 1);
    const NodeId pointer = PointerOf(draft_, base);
    const auto counter = [&](NodeId variable) { return variable == plan_.loop.variable; };
    if (pointer == kNone || !IsOfPlace(draft_, base) || !IsOfPlace(draft_, index, counter)) {
      return "the place of '" + text + "' depends on what is computed";
    }
    if (facts_.written.count(pointer) > 0) return "it writes what its loop reads: '" + text + "'";
    if (!IsDoneAlways(tree_, subscript, step)) {
      return "whether '" + text + "' is read depends on a condition";
    }
    for (TiledOperand& operand : plan_.operands) {
      if (text == tree_.TextOf(operand.subscripts.front())) {
        operand.subscripts.push_back(subscript);
        return "";
      }
    }
    const auto depends = [&](char axis) {
      return !SlopeOf(draft_, {.axis = axis}, base).IsNone() ||
             !SlopeOf(draft_, {.axis = axis}, index).IsNone();
    };
    const bool x = depends('x'), y = depends('y');
    if (x && y) return "each thread reads another '" + text + "'";
    TiledOperand operand;
    operand.subscripts = {subscript};
    operand.axis = x ? 'x' : y ? 'y' : 0;
    operand.steps_are_neighbours = SlopeOf(draft_, {.counter = plan_.loop.variable}, index).IsOne();
    operand.element = tree_.at(pointer).element;
    operand.bytes = tree_.at(pointer).element_bytes;
    const bool number = IsSharedElement(operand.element) && operand.bytes <= 8 &&
                        !std::isdigit(static_cast<unsigned char>(operand.element.back()));
    if (!number) return "'" + text + "' is no plain number";
    plan_.operands.push_back(operand);
    return "";
  }

  base::Result<> CheckOperands() {
    for (const char axis : {'x', 'y'}) {
      if (std::none_of(plan_.operands.begin(), plan_.operands.end(),
                       [&](const TiledOperand& operand) { return operand.axis == axis; })) {
        return Declined(std::string("its loop reads nothing that threads along ") +
                        (axis == 'x' ? 'y' : 'x') + " share and that differs along " + axis);
      }
    }
    return {};
  }

  // Otherwise than in what is loaded.
  bool UsesPlaces() const {
    return std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](NodeId step) {
      bool uses = false;
      Walk(tree_, step, [&](NodeId id) {
        for (const TiledOperand& operand : plan_.operands) {
          const auto& all = operand.subscripts;
          if (std::find(all.begin(), all.end(), id) != all.end()) return false;
        }
        const NodeId variable = IsA(tree_, id, Kind::kDeclRef) ? VariableOf(tree_, id) : kNone;
        uses = uses || (variable != kNone && IsLocalVariable(tree_, facts_, variable) &&
                        DeclaresPlaces(draft_, tree_.at(variable).parent));
        return !uses;
      });
      return uses;
    });
  }

  const Draft& draft_;
  const Tree& tree_;
  const Facts& facts_;
  TilingPlan plan_;
  NodeId loop_ = kNone;
};

std::int64_t BytesOf(const Draft& draft, const TilingPlan& plan) {
  std::int64_t bytes = 0;
  for (const NodeId variable : plan.state) bytes += draft.tree.at(variable).type_bytes;
  return std::max<std::int64_t>(bytes, 4);
}

base::Result<> CheckTiles(const Draft& draft, const TilingPlan& plan, const TilingShape& shape) {
  if (shape.tile_m < 1 || shape.tile_n < 1 || shape.tile_k < 1 || shape.rows < 1 ||
      shape.columns < 1) {
    return base::Fail(base::InvalidArgument("tiles must not be empty"));
  }
  if (shape.tile_m % shape.rows != 0 || shape.tile_n % shape.columns != 0) {
    return base::Fail(base::InvalidArgument("a thread's outputs must divide the tile"));
  }
  if (shape.threads() > 1024) return base::Fail(base::InvalidArgument("more than 1024 threads"));
  if (shape.rows * shape.columns * BytesOf(draft, plan) > kOutputBytes) {
    return Declined("a thread's registers do not hold that many outputs");
  }
  std::int64_t bytes = 0;
  for (const TiledOperand& operand : plan.operands) {
    bytes += shape.tile_k * TileRow(operand, shape) * operand.bytes + 16;
    const std::int64_t all = shape.tile_k * TileSide(operand, shape);
    if (all > 32 * shape.threads()) {
      return Declined("a tile has too many elements for its threads to load");
    }
  }
  if (bytes > kDeclaredSharedBytes) return Declined("its tiles do not fit into shared memory");
  return CheckCover(draft, plan.body, {shape.tile_n, shape.tile_m});
}

// The bounds to compile for: where half of what a thread may have of registers seems enough, as
// many blocks as that lets a multiprocessor hold, so that one computes while another waits.
std::string BoundsOf(const Draft& draft, const TilingPlan& plan, const TilingShape& shape) {
  constexpr std::int64_t kRegisters = 128, kThreadsAtThat = 512, kForAddresses = 24;
  std::int64_t registers = shape.rows * shape.columns * BytesOf(draft, plan) / 4 + kForAddresses;
  for (const TiledOperand& operand : plan.operands) {
    const std::int64_t values = operand.axis == 'x'   ? shape.columns
                                : operand.axis == 'y' ? shape.rows
                                                      : 1;
    const std::int64_t moved = shape.tile_k * TileSide(operand, shape) / shape.threads();
    registers += (values + moved) * std::max<std::int64_t>(1, operand.bytes / 4);
  }
  const std::int64_t blocks = registers <= kRegisters ? kThreadsAtThat / shape.threads() : 0;
  return "__launch_bounds__(" + std::to_string(shape.threads()) +
         (blocks > 1 ? ", " + std::to_string(blocks) : "") + ") ";
}

Json ParametersOf(const TilingShape& shape) {
  return Json{{"tile_m", shape.tile_m},
              {"tile_n", shape.tile_n},
              {"tile_k", shape.tile_k},
              {"rows_per_thread", shape.rows},
              {"columns_per_thread", shape.columns}};
}

}  // namespace

base::Result<std::vector<Json>> ProposeTiling(const Draft& draft) {
  TRY_ASSIGN(const TilingPlan plan, TilingReader(draft).Read());
  if (draft.device == "host") {
    return Declined("on the host device shared memory is memory like any other");
  }
  const Geometry geometry = DraftGeometry(draft);
  // The largest tiles read least; but each multiprocessor must have a block.
  constexpr std::int64_t kEnoughBlocks = 96;
  constexpr std::array<TilingShape, 9> kShapes = {{{128, 128, 16, 8, 8},
                                                   {128, 128, 8, 8, 8},
                                                   {128, 64, 16, 8, 8},
                                                   {64, 64, 16, 4, 4},
                                                   {64, 64, 16, 8, 8},
                                                   {64, 128, 16, 8, 8},
                                                   {64, 64, 32, 4, 4},
                                                   {32, 32, 32, 2, 4},
                                                   {16, 32, 32, 2, 2}}};
  std::vector<Json> parameters, few;
  base::Result<> last;
  for (const TilingShape& shape : kShapes) {
    const std::int64_t blocks =
        (geometry.grid[0] * geometry.block[0] + shape.tile_n - 1) / shape.tile_n *
        ((geometry.grid[1] * geometry.block[1] + shape.tile_m - 1) / shape.tile_m);
    last = CheckTiles(draft, plan, shape);
    if (last) (blocks >= kEnoughBlocks ? parameters : few).push_back(ParametersOf(shape));
  }
  // Of too few blocks those with the smallest tiles have the most.
  parameters.insert(parameters.end(), few.rbegin(), few.rend());
  if (parameters.empty() && !last) return base::Fail(last.error());
  return parameters;
}

base::Result<std::string> ApplyTiling(Draft& draft, const Json& parameters) {
  TRY(TilingReader(draft).Read());
  TRY(NormalisePlace(draft));
  TRY_ASSIGN(const TilingPlan plan, TilingReader(draft).Read());
  TilingShape shape;
  TRY_ASSIGN(shape.tile_m, IntegerOf(parameters, "tile_m", shape.tile_m));
  TRY_ASSIGN(shape.tile_n, IntegerOf(parameters, "tile_n", shape.tile_n));
  TRY_ASSIGN(shape.tile_k, IntegerOf(parameters, "tile_k", shape.tile_k));
  TRY_ASSIGN(shape.rows, IntegerOf(parameters, "rows_per_thread", shape.rows));
  TRY_ASSIGN(shape.columns, IntegerOf(parameters, "columns_per_thread", shape.columns));
  TRY(CheckTiles(draft, plan, shape));
  const std::string text = TiledBody(draft, plan, shape);
  Edits edits(draft.tree.text);
  const Node& at = draft.tree.at(draft.facts.body);
  edits.Replace(at.begin, at.end, text);
  edits.Insert(draft.tree.at(draft.function).name_begin, BoundsOf(draft, plan, shape));
  TRY(CoverInTiles(draft, plan.body, {shape.tile_n, shape.tile_m},
                   {shape.threads_x(), shape.threads_y()}));
  TRY(Change(draft, edits));
  return "tiles of " + std::to_string(shape.tile_m) + " x " + std::to_string(shape.tile_n) + " x " +
         std::to_string(shape.tile_k) + " in shared memory, " + std::to_string(shape.rows) + " x " +
         std::to_string(shape.columns) + " outputs a thread";
}

}  // namespace cupilot::source
