// Launch expressions (design, section 4.3): parsed, evaluated, and printed as C++11.
//
// Signed 64-bit integers; + - * / %, comparisons, && || !, ?: (which evaluate only what they need),
// parentheses, decimal or 0x literals; ceil_div floor_div round_up min max log2_ceil aligned(p, k)
// disjoint(p, n, q, m) is_null(p) blocks_per_sm(entry); names as in the design. Floating parameters
// only as operands of comparisons. Overflow, division by zero and other things without a value are
// failures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupilot::records {

// What names stand for in one evaluation. Pointers by their numeric address.
struct Environment {
  std::map<std::string, std::int64_t, std::less<>> integers;  // "width", "$2", "p.width", "grid_x"
  std::map<std::string, double, std::less<>> floats;
  std::map<std::string, std::uint64_t, std::less<>> pointers;
  std::function<std::optional<std::int64_t>(std::string_view entry)> blocks_per_sm;
};

enum class NameKind { kInteger, kFloating, kPointer };

// How names are written in printed C++ ("width" -> "cupilot_p2"), and what they are. Returns
// nullopt for a name that does not exist. The occupancy of an entry is asked for as
// "blocks_per_sm(entry)".
struct PrintedName {
  NameKind kind;
  std::string text;  // integer: an expression of type long long
  // Integers that may have no value (unsigned ones above INT64_MAX): a bool expression that says
  // whether it can be read. Empty: always.
  std::string readable = {};
};
using NamePrinter = std::function<std::optional<PrintedName>(std::string_view name)>;

class Expression {
 public:
  // kInvalidArgument: "column 7: expected ')'".
  static base::Result<Expression> Parse(std::string_view text);

  // The value, or kInvalidArgument with the column of what failed ("column 3: division by zero").
  base::Result<std::int64_t> Evaluate(const Environment& environment) const;

  // A C++11 expression of type bool that assigns the value to `target` (a long long lvalue) and is
  // false when the evaluation fails. Uses only __builtin_*_overflow and the helpers of
  // PrintedHelpers(), evaluates && || ?: lazily. Fails on unknown names. It is a lambda that
  // captures by reference, so it may stand only inside a function.
  base::Result<std::string> PrintCpp(std::string_view target, const NamePrinter& names) const;

  // What must hold together for it to hold: the operands of its outermost &&, from the left. Their
  // text() is the whole's, in which their columns count.
  std::vector<Expression> Conjuncts() const;
  // Whether it asks where memory lies (aligned, disjoint), and not only what the launch says.
  bool AsksAddresses() const;

  // Names that occur, each once.
  std::vector<std::string> Names() const;
  const std::string& text() const { return text_; }

  struct Node;
  const Node& root() const { return *root_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Definitions (static inline, C++11, no includes) that printed expressions call; to be emitted once
// a translation unit, inside a namespace of the caller's choice.
std::string PrintedHelpers();

// Evaluate(Parse(text)); for sizes.
base::Result<std::int64_t> EvaluateText(std::string_view text, const Environment& environment);

}  // namespace cupilot::records
