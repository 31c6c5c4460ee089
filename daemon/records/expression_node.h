// The tree of an expression; shared by the parser, the evaluator and the printer only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "records/expression.h"

namespace cupilot::records {

enum class Operation {
  kConstant,
  kName,
  kNegate,
  kNot,
  kMultiply,
  kDivide,
  kRemainder,
  kAdd,
  kSubtract,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kConditional,
  kCeilDiv,
  kFloorDiv,
  kRoundUp,
  kMin,
  kMax,
  kLog2Ceil,
  kAligned,
  kDisjoint,
  kIsNull,
  kBlocksPerSm,
};

struct Expression::Node {
  Operation operation = Operation::kConstant;
  int column = 1;          // of the operator, function, name or literal; bytes, from 1
  std::int64_t value = 0;  // kConstant
  std::string name;        // kName; an operator's or function's spelling
  std::vector<std::unique_ptr<const Node>> children;
};

// "column 7: ..."
base::Error ExpressionError(int column, const std::string& what);

bool IsComparison(Operation operation);

// Integer operations of two numbers, kMultiply to kSubtract and kCeilDiv to kMax: null and the
// result, or why there is none ("overflow").
const char* Compute(Operation operation, std::int64_t a, std::int64_t b, std::int64_t* result);
bool HoldsBetween(Operation comparison, std::int64_t a, std::int64_t b);
// Null and the result, or why there is none; a >= 1 is demanded.
const char* Log2Ceil(std::int64_t a, std::int64_t* result);

// The value of a part of an expression.
base::Result<std::int64_t> EvaluateNode(const Expression::Node& node,
                                        const Environment& environment);

// Null with an error in `error`.
std::unique_ptr<const Expression::Node> ParseExpression(std::string_view text, base::Error& error);

}  // namespace cupilot::records
