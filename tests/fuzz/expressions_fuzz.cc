#include <algorithm>

#include "records/expression.h"
#include "source/syntax/lexer.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

records::Environment SomeValues() {
  records::Environment values;
  values.integers = {
      {"n", 4096}, {"width", -3}, {"$0", INT64_MIN}, {"p.rows", INT64_MAX}, {"grid_x", 7}};
  values.floats = {{"alpha", 0.5}};
  values.pointers = {{"in", 4096}, {"out", 4100}, {"none", 0}};
  values.blocks_per_sm = [](std::string_view) { return std::optional<std::int64_t>(2); };
  return values;
}

std::optional<records::PrintedName> Print(std::string_view name) {
  const records::Environment values = SomeValues();
  if (values.floats.count(name) > 0) return records::PrintedName{records::NameKind::kFloating, "f"};
  if (values.pointers.count(name) > 0) {
    return records::PrintedName{records::NameKind::kPointer, "p"};
  }
  return records::PrintedName{records::NameKind::kInteger, "i"};
}

}  // namespace

// An expression: evaluated, and printed as C++ that closes its brackets, the same each time.
std::string Expressions(std::string_view bytes) {
  const auto expression = records::Expression::Parse(bytes);
  if (!expression) return {};
  const auto value = expression->Evaluate(SomeValues());
  const auto again = records::Expression::Parse(expression->text());
  if (!again) return "not read again: " + again.error().message;
  const auto same = again->Evaluate(SomeValues());
  if (same.has_value() != value.has_value() || (value && *same != *value)) {
    return "has another value when it is read again";
  }
  if (again->Names() != expression->Names()) return "has other names when it is read again";
  const auto printed = expression->PrintCpp("target", Print);
  const auto twice = again->PrintCpp("target", Print);
  if (printed.has_value() != twice.has_value()) return "is printed only sometimes";
  if (!printed) return {};
  if (*printed != *twice) return "is printed in two ways";
  const std::vector<source::Token> tokens = source::Lex(*printed);
  int depth = 0;
  for (const source::Token& token : tokens) {
    const std::string_view word = source::Spelling(*printed, token);
    if (word == "(" || word == "{" || word == "[") ++depth;
    if (word == ")" || word == "}" || word == "]") --depth;
    if (depth < 0 || word == ";" ? depth < 1 : false) return "leaves its brackets: " + *printed;
  }
  return depth == 0 ? "" : "does not close its brackets: " + *printed;
}

}  // namespace cupilot::fuzz
