#include <algorithm>

#include "source/rewrite/inspect.h"
#include "source/rewrite/tiling.h"

namespace cupilot::source {
namespace {

// Elements side by side that one load from shared memory takes: 16 bytes.
std::int64_t GroupOf(std::int64_t count, std::int64_t bytes) {
  const std::int64_t most = std::max<std::int64_t>(1, 16 / bytes);
  for (std::int64_t group = most; group > 1; group /= 2) {
    if (count % group == 0) return group;
  }
  return 1;
}

class TilingWriter {
 public:
  TilingWriter(const Draft& draft, const TilingPlan& plan, const TilingShape& shape)
      : draft_(draft),
        tree_(draft.tree),
        plan_(plan),
        shape_(shape),
        prefix_(FreshPrefix(draft.tree, "tiled") + "_"),
        depth_(std::to_string(shape.tile_k)) {
    // One grouping for all: outputs are where their operands are.
    std::int64_t bytes = 1;
    for (const TiledOperand& operand : plan.operands) bytes = std::max(bytes, operand.bytes);
    group_x_ = GroupOf(shape.columns, bytes);
    group_y_ = GroupOf(shape.rows, bytes);
  }

  std::string Run() const {
    std::string text = "{\n" + Tiles() + Places() + State();
    if (!IsTrivial()) {
      text += ForOutputs([&](std::int64_t i, std::int64_t c) { return Before(i, c); });
    }
    text += Loop();
    return text + ForOutputs([&](std::int64_t i, std::int64_t c) { return After(i, c); }) + "}";
  }

 private:
  static std::string Text(std::int64_t number) { return std::to_string(number); }
  std::string Own(const std::string& name) const { return prefix_ + name; }
  std::string Tile(std::size_t o) const { return Own("s" + Text(static_cast<std::int64_t>(o))); }
  std::string Fetched(std::size_t o, std::int64_t part) const {
    return Own("f" + Text(static_cast<std::int64_t>(o)) + "_" + Text(part));
  }
  std::string Operand(std::size_t o, std::int64_t at) const {
    return Own("v" + Text(static_cast<std::int64_t>(o)) + "_" + Text(at));
  }
  std::string Output(NodeId variable, std::int64_t i, std::int64_t c) const {
    return Own(tree_.at(variable).name + "_" + Text(i) + "_" + Text(c));
  }
  std::string PlainType(NodeId variable) const {
    const std::string& type = tree_.at(variable).canonical;
    return type.starts_with("const ") ? type.substr(6) : type;
  }
  std::string CounterType() const { return PlainType(plan_.loop.variable); }

  template <class Write>
  std::string ForOutputs(const Write& write) const {
    std::string text;
    for (std::int64_t i = 0; i < shape_.rows; ++i) {
      for (std::int64_t c = 0; c < shape_.columns; ++c) text += write(i, c);
    }
    return text;
  }

  std::string Tiles() const {
    std::string text;
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
      const TiledOperand& operand = plan_.operands[o];
      text += "alignas(16) __shared__ " + operand.element + " " + Tile(o) + "[" + depth_ + "][" +
              Text(TileRow(operand, shape_)) + "];\n";
    }
    return text;
  }

  // Outputs of a thread are in groups, so that it loads each group's operands at once, and a warp's
  // groups lie side by side, each in banks of its own.
  std::string Offset(std::int64_t at, std::int64_t group, std::int64_t threads,
                     const char* axis) const {
    return Own(axis) + " * " + Text(group) + "u + " +
           Text(at / group * group * threads + at % group) + "u";
  }
  std::string OffsetX(std::int64_t c) const {
    return Offset(c, group_x_, shape_.threads_x(), "tx");
  }
  std::string OffsetY(std::int64_t i) const {
    return Offset(i, group_y_, shape_.threads_y(), "ty");
  }

  // A warp is 8 x 4 outputs where the block lets it: that reads fewest different operands.
  std::string Places() const {
    const std::int64_t wide = shape_.threads_x(), warps = wide / 8;
    const std::string t = Own("t"), lane = "(" + t + " % 32u)", warp = "(" + t + " / 32u)";
    const bool square = wide % 8 == 0 && shape_.threads_y() % 4 == 0;
    const std::string number = "const unsigned int ";
    std::string text = number + t + " = threadIdx.y * " + Text(wide) + "u + threadIdx.x;\n";
    text += number + Own("tx") + " = " +
            (square ? warp + " % " + Text(warps) + "u * 8u + " + lane + " % 8u" : "threadIdx.x") +
            ", " + Own("ty") + " = " +
            (square ? warp + " / " + Text(warps) + "u * 4u + " + lane + " / 8u" : "threadIdx.y") +
            ";\n";
    text += number + Own("x") + " = blockIdx.x * " + Text(shape_.tile_n) + "u, " + Own("y") +
            " = blockIdx.y * " + Text(shape_.tile_m) + "u;\n";
    return text;
  }
  PlaceText PlaceOf(std::int64_t i, std::int64_t c) const {
    return {Own("x") + " + " + OffsetX(c), Own("y") + " + " + OffsetY(i)};
  }

  bool IsConstant(NodeId value) const {
    return value == kNone || FindBelow(tree_, value, [&](NodeId id) {
                               return IsA(tree_, id, Kind::kDeclRef);
                             }) == kNone;
  }
  // Nothing to do before the loop but to begin with constants.
  bool IsTrivial() const {
    return std::all_of(plan_.before.begin(), plan_.before.end(), [&](NodeId id) {
      if (!IsA(tree_, id, Kind::kDeclStatement)) return false;
      const std::vector<NodeId>& variables = tree_.at(id).children;
      return std::all_of(variables.begin(), variables.end(),
                         [&](NodeId variable) { return IsConstant(Initialiser(tree_, variable)); });
    });
  }

  std::string State() const {
    return ForOutputs([&](std::int64_t i, std::int64_t c) {
      std::string text;
      for (const NodeId variable : plan_.state) {
        const NodeId value = Initialiser(tree_, variable);
        const bool known = value != kNone && IsConstant(value);
        text += PlainType(variable) + " " + Output(variable, i, c) + " = " +
                (known ? std::string(tree_.TextOf(value)) : "0") + ";\n";
      }
      return text;
    });
  }

  std::string Declarations(const PlaceText& place) const {
    std::string text;
    for (const NodeId id : plan_.places) text += TextAt(draft_, id, place) + "\n";
    return text;
  }

  // A statement for one output; `counter` stands for the loop's.
  std::string Statement(NodeId node, std::int64_t i, std::int64_t c,
                        const std::string& counter = "") const {
    return TextAt(draft_, node, PlaceOf(i, c), [&](NodeId id, Edits& edits) {
      const Node& at = tree_.at(id);
      for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
        const TiledOperand& operand = plan_.operands[o];
        if (std::count(operand.subscripts.begin(), operand.subscripts.end(), id) == 0) continue;
        const std::int64_t which = operand.axis == 'x' ? c : operand.axis == 'y' ? i : 0;
        edits.Replace(at.begin, at.end, Operand(o, which));
        return true;
      }
      const NodeId variable = at.kind == Kind::kDeclRef ? VariableOf(tree_, id) : kNone;
      if (variable == kNone) return false;
      if (variable == plan_.loop.variable && !counter.empty()) {
        edits.Replace(at.begin, at.end, counter);
      } else if (std::count(plan_.state.begin(), plan_.state.end(), variable) > 0) {
        edits.Replace(at.begin, at.end, Output(variable, i, c));
      }
      return false;
    });
  }

  std::string Before(std::int64_t i, std::int64_t c) const {
    std::string text = Declarations(PlaceOf(i, c));
    for (const NodeId id : plan_.before) {
      if (!IsA(tree_, id, Kind::kDeclStatement)) {
        text += Statement(id, i, c) + ";\n";
        continue;
      }
      for (const NodeId variable : tree_.at(id).children) {
        const NodeId value = Initialiser(tree_, variable);
        if (IsConstant(value)) continue;
        text += Output(variable, i, c) + " = " + Statement(value, i, c) + ";\n";
      }
    }
    return GuardedText(draft_, plan_.body, PlaceOf(i, c), text);
  }

  std::string After(std::int64_t i, std::int64_t c) const {
    std::string text = Declarations(PlaceOf(i, c));
    for (const NodeId id : plan_.after) text += Statement(id, i, c) + ";\n";
    return GuardedText(draft_, plan_.body, PlaceOf(i, c), text);
  }

  // Elements of an operand's tile that each thread moves.
  std::int64_t Share(const TiledOperand& operand) const {
    return (TileSide(operand, shape_) * shape_.tile_k + shape_.threads() - 1) / shape_.threads();
  }

  // Neighbouring threads move what lies side by side in memory.
  std::string Mover(const TiledOperand& operand, std::int64_t part,
                    const std::string& inner) const {
    const std::int64_t side = TileSide(operand, shape_), all = side * shape_.tile_k;
    const std::string e = "(" + Own("t") + " + " + Text(part * shape_.threads()) + "u)";
    const bool deep = operand.steps_are_neighbours;
    const std::string width = Text(deep ? shape_.tile_k : side) + "u";
    const std::string low = e + " % " + width, high = e + " / " + width;
    const bool partial = (part + 1) * shape_.threads() > all;
    return std::string(partial ? "if (" + e + " < " + Text(all) + "u) " : "") +
           "{\nconst unsigned int " + Own("i") + " = " + (deep ? high : low) + ", " + Own("j") +
           " = " + (deep ? low : high) + ";\n" + inner + "}\n";
  }

  std::string Declared() const {
    std::string text;
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
      for (std::int64_t part = 0; part < Share(plan_.operands[o]); ++part) {
        text += plan_.operands[o].element + " " + Fetched(o, part) + " = 0;\n";
      }
    }
    return text;
  }

  // What the original reads and nothing else: within the guard, within the loop.
  std::string Fetch(const std::string& first) const {
    std::string text = "{\nconst " + CounterType() + " " + Own("first") + " = " + first + ";\n";
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
      const TiledOperand& operand = plan_.operands[o];
      PlaceText place{Own("x"), Own("y")};
      if (operand.axis == 'x') place.x += " + " + Own("i");
      if (operand.axis == 'y') place.y += " + " + Own("i");
      const std::string counter =
          "((" + CounterType() + ")(" + Own("first") + " + " + Own("j") + "))";
      const std::string element =
          TextAt(draft_, operand.subscripts.front(), place, [&](NodeId id, Edits& edits) {
            const Node& at = tree_.at(id);
            if (at.kind != Kind::kDeclRef || VariableOf(tree_, id) != plan_.loop.variable) {
              return false;
            }
            edits.Replace(at.begin, at.end, counter);
            return true;
          });
      const std::string within =
          "if (" + Own("j") + " < " + Own("end") + " - " + Own("first") + ")\n";
      for (std::int64_t part = 0; part < Share(operand); ++part) {
        const std::string value = Fetched(o, part);
        text += value + " = 0;\n" +
                Mover(operand, part,
                      within + GuardedText(draft_, plan_.body, place,
                                           Declarations(place) + value + " = " + element + ";\n"));
      }
    }
    return text + "}\n";
  }

  std::string Store() const {
    std::string text;
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
      for (std::int64_t part = 0; part < Share(plan_.operands[o]); ++part) {
        text +=
            Mover(plan_.operands[o], part,
                  Tile(o) + "[" + Own("j") + "][" + Own("i") + "] = " + Fetched(o, part) + ";\n");
      }
    }
    return text;
  }

  // `unrolled` steps at a time: as many as hide the way from shared memory.
  std::string Steps(const std::string& count, std::int64_t unrolled) const {
    const std::string step = Own("step");
    std::string text = "for (int " + step + " = 0; " + step + " < " + count + "; " + step +
                       " += " + Text(unrolled) + ") {\n";
    for (std::int64_t u = 0; u < unrolled; ++u) {
      text += "{\n" + Step(u == 0 ? step : step + " + " + Text(u)) + "}\n";
    }
    return text + "}\n";
  }
  std::int64_t Unrolled() const {
    for (const std::int64_t unrolled : {8, 4, 2}) {
      const std::int64_t outputs = shape_.rows * shape_.columns * unrolled;
      if (shape_.tile_k % unrolled == 0 && outputs <= 256) return unrolled;
    }
    return 1;
  }

  std::string Step(const std::string& step) const {
    std::string text;
    for (std::size_t o = 0; o < plan_.operands.size(); ++o) {
      const TiledOperand& operand = plan_.operands[o];
      const std::int64_t copies = operand.axis == 'x'   ? shape_.columns
                                  : operand.axis == 'y' ? shape_.rows
                                                        : 1;
      for (std::int64_t at = 0; at < copies; ++at) {
        const std::string offset = operand.axis == 'x'   ? OffsetX(at)
                                   : operand.axis == 'y' ? OffsetY(at)
                                                         : "0";
        text += "const " + operand.element + " " + Operand(o, at) + " = " + Tile(o) + "[" + step +
                "][" + offset + "];\n";
      }
    }
    const std::string counter = "((" + CounterType() + ")(" + Own("k") + " + " + step + "))";
    return text + ForOutputs([&](std::int64_t i, std::int64_t c) {
             std::string one = "{\n";
             if (plan_.steps_use_places) {
               for (const GuardedBody::Step& declared : plan_.body.steps) {
                 if (declared.declares != kNone) {
                   one += TextAt(draft_, declared.declares, PlaceOf(i, c)) + "\n";
                 }
               }
               one += Declarations(PlaceOf(i, c));
             }
             for (const NodeId id : plan_.steps) one += Statement(id, i, c, counter) + ";\n";
             return one + "}\n";
           });
  }

  // The next tile is on its way from memory while this one is used.
  std::string Loop() const {
    const std::string type = CounterType(), k = Own("k"), end = Own("end"), left = Own("left");
    std::string text =
        "const " + type + " " + end + " = " + std::string(tree_.TextOf(plan_.loop.bound)) + ";\n";
    text += type + " " + k + " = " + std::string(tree_.TextOf(plan_.loop.start)) + ";\n";
    text += "if (" + k + " < " + end + ") {\n" + Declared() + Fetch(k) + "for (;;) {\n" + Store();
    text += "__syncthreads();\nconst " + type + " " + left + " = " + end + " - " + k + ";\n";
    text += "if (" + left + " > " + depth_ + ") " + Fetch(k + " + " + depth_);
    text += "if (" + left + " >= " + depth_ + ") " + Steps(depth_, Unrolled()) + "else " +
            Steps("(int)" + left, 1);
    text += "if (" + left + " <= " + depth_ + ") break;\n__syncthreads();\n";
    return text + k + " += " + depth_ + ";\n}\n}\n";
  }

  const Draft& draft_;
  const Tree& tree_;
  const TilingPlan& plan_;
  const TilingShape shape_;
  const std::string prefix_;
  const std::string depth_;
  std::int64_t group_x_ = 1, group_y_ = 1;
};

}  // namespace

std::int64_t TileSide(const TiledOperand& operand, const TilingShape& shape) {
  return operand.axis == 'x' ? shape.tile_n : operand.axis == 'y' ? shape.tile_m : 1;
}

std::int64_t TileRow(const TiledOperand& operand, const TilingShape& shape) {
  const std::int64_t side = TileSide(operand, shape);
  // Written down its columns: longer by 16 bytes, which keeps groups aligned and spreads a column
  // over the banks.
  return operand.axis != 0 && operand.steps_are_neighbours
             ? side + std::max<std::int64_t>(1, 16 / operand.bytes)
             : side;
}

std::string TiledBody(const Draft& draft, const TilingPlan& plan, const TilingShape& shape) {
  return TilingWriter(draft, plan, shape).Run();
}

}  // namespace cupilot::source
