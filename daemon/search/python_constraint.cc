#include "search/python_constraint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "records/expression.h"
#include "search/measured.h"
#include "search/python_tokens.h"

namespace cupilot::search {
namespace {

constexpr int kDeepest = 100;
constexpr std::size_t kLongest = 1 << 14;
constexpr std::int64_t kHighestPower = 62;
constexpr std::array<std::string_view, 7> kFunctions = {"min", "max",  "abs",  "int",
                                                        "pow", "ceil", "floor"};

// A part of an expression: number / divisor.
struct Term {
  std::string number;
  std::string divisor;              // empty: 1
  std::vector<std::string> guards;  // must hold for it to have a value
  bool maybe_negative = false;
  bool of_truth = false;    // it is 0 or 1, whatever parameters are
  bool truth_only = false;  // as a condition right; its value in Python may be another one
  std::optional<std::int64_t> constant;          // of a whole number
  std::optional<std::string> text;               // a literal; number is empty
  std::optional<double> plain;                   // of a literal number
  const SpaceParameter* named_values = nullptr;  // a parameter that has texts
  bool is_list = false;
  std::vector<Term> elements;
};

using Token = PythonToken;

std::string Product(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  return b.empty() ? a : "(" + a + " * " + b + ")";
}

class Translator {
 public:
  Translator(std::string_view text, const std::vector<SpaceParameter>& parameters)
      : text_(text), parameters_(parameters) {}

  base::Result<std::string> Translate() {
    Advance();
    const Term term = Choice();
    if (token_.kind != Token::kEnd) NotUnderstood();
    std::string truth = Truth(term);
    if (error_) return base::Fail(*error_);
    return truth;
  }

  base::Result<std::int64_t> Constant() {
    Advance();
    const Term term = Choice();
    if (token_.kind != Token::kEnd) NotUnderstood();
    CheckNumber(term);
    if (error_) return base::Fail(*error_);
    TRY_ASSIGN(const std::int64_t number, records::EvaluateText(term.number, {}));
    if (term.divisor.empty()) return number;
    TRY_ASSIGN(const std::int64_t divisor, records::EvaluateText(term.divisor, {}));
    if (divisor <= 0 || number % divisor != 0) {
      return base::Fail(base::Unsupported("'" + std::string(text_) + "' is no whole number"));
    }
    return number / divisor;
  }

 private:
  // ---- reading ----

  void Fail(const std::string& what, bool unsupported = false) {
    if (error_) return;
    const std::string message = "column " + std::to_string(token_.column + 1) + ": " + what;
    error_ = unsupported ? base::Unsupported(message) : base::InvalidArgument(message);
    token_ = {Token::kEnd, "", text_.size()};
  }
  void Unsupported(const std::string& what) { Fail(what, true); }
  // Where the text ends, no Python goes on; what else stands there may be Python all the same.
  void NotUnderstood(const std::string& what = "this is not understood") {
    Fail(what, token_.kind != Token::kEnd);
  }

  void Advance() {
    if (error_) return;
    token_ = tokens_.Next();
    if (token_.kind == Token::kUnendedText) Fail("a text without an end");
  }

  bool Is(std::string_view text) const {
    return token_.text == text && (token_.kind == Token::kSign || token_.kind == Token::kName);
  }
  bool Take(std::string_view text) {
    if (!Is(text)) return false;
    Advance();
    return true;
  }
  void Expect(std::string_view text) {
    if (!Take(text)) NotUnderstood("expected '" + std::string(text) + "'");
  }

  // ---- what parts are ----

  static Term Whole(std::int64_t value) {
    Term term;
    term.number = std::to_string(value);
    term.constant = value;
    term.maybe_negative = value < 0;
    term.of_truth = value == 0 || value == 1;
    return term;
  }

  static std::string Guarded(const std::vector<std::string>& guards, const std::string& what) {
    if (guards.empty()) return what;
    std::string text;
    for (const std::string& guard : guards) text += guard + " && ";
    return "(" + text + what + ")";
  }

  static Term Condition(std::string text) {
    Term term;
    term.number = std::move(text);
    term.of_truth = true;
    return term;
  }

  // Of `and` and `or`, whose value in Python is one of the operands.
  static Term Joined(const Term& left, const Term& right, std::string text) {
    Term term = Condition(std::move(text));
    term.of_truth = left.of_truth && right.of_truth;
    term.truth_only = !term.of_truth;
    return term;
  }

  // As a condition. A fraction is 0 where its number is.
  std::string Truth(const Term& term) {
    CheckNoText(term);
    return Guarded(term.guards, term.number);
  }

  void CheckNoText(const Term& term) {
    if (term.is_list) Fail("a list stands where a number is needed");
    if (term.named_values != nullptr) {
      Unsupported("the values of '" + term.named_values->name +
                  "' are texts or fractions, of which can only be said by ==, != and in which of "
                  "them it is");
    }
    if (term.text) Unsupported("a text can only be compared with a parameter that has texts");
  }

  void CheckNumber(const Term& term) {
    CheckNoText(term);
    if (term.truth_only) Unsupported("what 'and' and 'or' leave, as a number");
  }

  void CheckWhole(const Term& term) {
    CheckNumber(term);
    if (!term.divisor.empty()) Unsupported("a fraction stands where a whole number is needed");
  }

  static void Join(const Term& from, Term& into) {
    into.guards.insert(into.guards.end(), from.guards.begin(), from.guards.end());
    into.maybe_negative = into.maybe_negative || from.maybe_negative;
  }

  // The numbers of both over one divisor.
  static std::pair<std::string, std::string> OverOne(const Term& a, const Term& b) {
    if (a.divisor == b.divisor) return {a.number, b.number};
    return {Product(a.number, b.divisor), Product(b.number, a.divisor)};
  }
  static std::string OneDivisor(const Term& a, const Term& b) {
    return a.divisor == b.divisor ? a.divisor : Product(a.divisor, b.divisor);
  }

  // Some of ours take what stands in them several times.
  void CheckLength(const Term& term) {
    if (term.number.size() + term.divisor.size() > kLongest) Unsupported("this becomes too long");
  }

  Term Arithmetic(const std::string& sign, const Term& a, const Term& b) {
    CheckNumber(a);
    CheckNumber(b);
    CheckLength(a);
    CheckLength(b);
    if (error_) return {};
    Term out;
    Join(a, out);
    Join(b, out);
    const auto [left, right] = OverOne(a, b);
    if (sign == "+" || sign == "-") {
      out.number = "(" + left + " " + sign + " " + right + ")";
      out.divisor = OneDivisor(a, b);
      out.maybe_negative = out.maybe_negative || sign == "-";
    } else if (sign == "*") {
      out.number = Product(a.number, b.number);
      out.divisor = Product(a.divisor, b.divisor);
    } else if (sign == "/") {
      if (b.maybe_negative) Unsupported("division by what may be negative");
      out.number = Product(a.number, b.divisor);
      out.divisor = Product(a.divisor, b.number);
      // Where it is 0 there is no value, also behind a "not".
      if (!b.constant || *b.constant == 0) {
        const std::string above = "(" + b.number + " > 0)";
        out.guards.push_back("(" + above + " / " + above + ")");
      }
    } else if (sign == "//") {
      out.number = "floor_div(" + left + ", " + right + ")";
    } else if (out.maybe_negative) {
      out.number = "(" + left + " - floor_div(" + left + ", " + right + ") * " + right + ")";
      out.divisor = OneDivisor(a, b);
    } else {
      out.number = "(" + left + " % " + right + ")";
      out.divisor = OneDivisor(a, b);
    }
    return out;
  }

  // The place of a text among the values of a parameter that has texts.
  std::optional<std::string> TextComparison(const std::string& sign, const Term& a, const Term& b) {
    if (!a.text && !b.text && a.named_values == nullptr && b.named_values == nullptr) {
      return std::nullopt;
    }
    const Term& named = a.named_values != nullptr ? a : b;
    const Term& literal = a.named_values != nullptr ? b : a;
    if (named.named_values == nullptr || (!literal.text && !literal.plain) ||
        (sign != "==" && sign != "!=")) {
      CheckNoText(named);
      CheckNoText(literal);
      return "0";
    }
    const auto place = PlaceOf(*named.named_values, literal.text ? records::Json(*literal.text)
                                                                 : records::Json(*literal.plain));
    if (!place) return sign == "!=" ? "1" : "0";
    return "(" + named.named_values->name + " " + sign + " " + std::to_string(*place) + ")";
  }

  std::string Compared(const std::string& sign, const Term& a, const Term& b) {
    if (const auto text = TextComparison(sign, a, b)) return *text;
    CheckNumber(a);
    CheckNumber(b);
    const auto [left, right] = OverOne(a, b);
    std::vector<std::string> guards = a.guards;
    guards.insert(guards.end(), b.guards.begin(), b.guards.end());
    return Guarded(guards, "(" + left + " " + sign + " " + right + ")");
  }

  // ---- the grammar, from the weakest sign to the strongest ----

  Term Choice() {
    if (++depth_ > kDeepest) Fail("nested too deeply");
    Term value = Or();
    if (Take("if")) {
      const std::string condition = Truth(Or());
      Expect("else");
      const Term other = Choice();
      CheckNumber(value);
      CheckNumber(other);
      Term out;
      if (!value.guards.empty() || !other.guards.empty()) {
        Unsupported("a fraction in a choice");
      }
      Join(value, out);
      Join(other, out);
      out.of_truth = value.of_truth && other.of_truth;
      const auto [left, right] = OverOne(value, other);
      out.number = "(" + condition + " ? " + left + " : " + right + ")";
      out.divisor = OneDivisor(value, other);
      value = std::move(out);
    }
    --depth_;
    return value;
  }

  Term Or() {
    return Chain("or", "||", [this] { return And(); });
  }

  // All operands side by side in one pair of brackets.
  Term Chain(std::string_view word, std::string_view sign, const std::function<Term()>& operand) {
    Term left = operand();
    if (!Is(word) && !Is(sign)) return left;
    std::string all = Truth(left);
    while (Is(word) || Is(sign)) {
      Advance();
      const Term right = operand();
      all += " " + std::string(sign) + " " + Truth(right);
      left = Joined(left, right, "(" + all + ")");
    }
    return left;
  }

  Term And() {
    return Chain("and", "&&", [this] { return Not(); });
  }

  Term Not() {
    if (!Take("not")) return Comparison();
    if (++depth_ > kDeepest) Fail("nested too deeply");
    const std::string truth = Truth(Not());
    --depth_;
    return Condition("(!" + truth + ")");
  }

  Term Comparison() {
    Term left = Sum();
    std::string all;
    while (true) {
      const auto add = [&all](const std::string& one) {
        all = all.empty() ? one : "(" + all + " && " + one + ")";
      };
      const bool none = Is("not");
      if (none || Is("in")) {
        Advance();
        if (none) Expect("in");
        const Term list = Sum();
        if (!list.is_list) Fail("a list must stand behind 'in'");
        std::string any;
        for (const Term& element : list.elements) {
          any += (any.empty() ? "" : " || ") + Compared("==", left, element);
        }
        if (any.empty()) any = "0";
        add((none ? "(!(" : "((") + any + "))");
        left = Condition("0");
        continue;
      }
      static constexpr std::array<std::string_view, 6> kSigns = {"<", "<=", ">", ">=", "==", "!="};
      if (token_.kind != Token::kSign ||
          std::find(kSigns.begin(), kSigns.end(), token_.text) == kSigns.end()) {
        break;
      }
      const std::string sign = token_.text;
      Advance();
      Term right = Sum();
      add(Compared(sign, left, right));
      left = std::move(right);
    }
    return all.empty() ? left : Condition(all);
  }

  Term Sum() {
    Term left = Factors();
    while (Is("+") || Is("-")) {
      const std::string sign = token_.text;
      Advance();
      left = Arithmetic(sign, left, Factors());
    }
    return left;
  }

  Term Factors() {
    Term left = Signed();
    while (Is("*") || Is("/") || Is("//") || Is("%")) {
      const std::string sign = token_.text;
      Advance();
      left = Arithmetic(sign, left, Signed());
    }
    return left;
  }

  Term Signed() {
    if (++depth_ > kDeepest) Fail("nested too deeply");
    Term term;
    if (Take("-")) {
      term = Arithmetic("-", Whole(0), Signed());
    } else if (Take("+")) {
      term = Signed();
    } else if (Take("!")) {
      term = Condition("(!" + Truth(Signed()) + ")");
    } else {
      term = Power();
    }
    --depth_;
    return term;
  }

  Term Power() {
    Term base = Atom();
    if (!Take("**")) return base;
    return Raised(base, Signed());
  }

  Term Raised(const Term& base, const Term& exponent) {
    CheckWhole(base);
    if (!exponent.constant || *exponent.constant < 0 || *exponent.constant > kHighestPower) {
      Unsupported("a power whose exponent is no constant from 0 to 62");
      return base;
    }
    Term power = Whole(1);
    for (std::int64_t i = 0; i < *exponent.constant; ++i) {
      std::int64_t product = 0;
      if (base.constant && power.constant &&
          !__builtin_mul_overflow(*base.constant, *power.constant, &product)) {
        power = Whole(product);
      } else {
        power = i == 0 ? base : Arithmetic("*", power, base);
      }
    }
    return power;
  }

  Term Atom() {
    const Token token = token_;
    if (token.kind == Token::kNumber) {
      Advance();
      return Number(token.text);
    }
    if (token.kind == Token::kText) {
      Advance();
      Term term;
      term.text = token.text;
      return term;
    }
    if (token.kind == Token::kName) return Named();
    if (Take("(")) {
      Term term = Is(")") ? List(")") : Choice();
      if (Is(",")) {
        Advance();
        Term list = List(")");
        list.elements.insert(list.elements.begin(), std::move(term));
        term = std::move(list);
      }
      Expect(")");
      return term;
    }
    for (const auto& [begin, end] : {std::pair("[", "]"), std::pair("{", "}")}) {
      if (!Take(begin)) continue;
      Term term = List(end);
      Expect(end);
      return term;
    }
    NotUnderstood();
    return {};
  }

  Term List(std::string_view end) {
    Term list;
    list.is_list = true;
    while (!Is(end) && !error_) {
      list.elements.push_back(Choice());
      if (!Take(",")) break;
    }
    return list;
  }

  Term Number(const std::string& text) {
    const auto read = ReadPythonNumber(text);
    if (!read) {
      Unsupported("'" + text + "' is no number of at most 64 bits");
      return {};
    }
    Term term = Whole(read->number);
    term.plain = static_cast<double>(read->number);
    if (read->divisor.empty()) return term;
    term.divisor = read->divisor;
    *term.plain /= std::pow(10.0, static_cast<double>(term.divisor.size() - 1));
    term.constant.reset();
    term.of_truth = false;
    return term;
  }

  Term Named() {
    const std::string name = token_.text;
    const std::size_t column = token_.column;
    Advance();
    if (Is("(")) return Call(name);
    if (name == "True") return Whole(1);
    if (name == "False") return Whole(0);
    std::string parameter = name;
    if (Take("[")) {  // p["name"]
      parameter = token_.text;
      if (token_.kind != Token::kText) {
        NotUnderstood("expected the name of a parameter, as a text");
      }
      Advance();
      Expect("]");
    }
    const auto found =
        std::find_if(parameters_.begin(), parameters_.end(),
                     [&](const SpaceParameter& one) { return one.name == parameter; });
    if (found == parameters_.end()) {
      token_.column = column;
      Fail("there is no parameter '" + parameter + "'");
      return {};
    }
    const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (!std::all_of(parameter.begin(), parameter.end(), in_name)) {
      Unsupported("'" + parameter + "' is no name in an expression");
    }
    Term term;
    term.number = parameter;
    term.maybe_negative = std::any_of(found->values.begin(), found->values.end(),
                                      [](std::int64_t value) { return value < 0; });
    term.of_truth = std::all_of(found->values.begin(), found->values.end(),
                                [](std::int64_t value) { return value == 0 || value == 1; });
    if (!found->texts.empty()) term.named_values = &*found;
    return term;
  }

  Term Call(std::string name) {
    if (name.starts_with("math.")) name = name.substr(5);
    if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) {
      Unsupported("the function '" + name + "' cannot be said");
    }
    Expect("(");
    std::vector<Term> given = List(")").elements;
    Expect(")");
    if ((name == "min" || name == "max") && given.size() == 1 && given[0].is_list) {
      given = std::vector<Term>(given[0].elements);
    }
    const bool one = given.size() == 1, two = given.size() == 2;
    if (name == "pow" && two) return Raised(given[0], given[1]);
    for (const Term& argument : given) {
      CheckNumber(argument);
      CheckLength(argument);
    }
    if (error_) return {};
    Term out;
    for (const Term& argument : given) Join(argument, out);
    if ((name == "min" || name == "max") && given.size() > 1) {
      for (const Term& argument : given) {
        CheckWhole(argument);
        out.number += (out.number.empty() ? name + "(" : ", ") + argument.number;
      }
      out.number += ")";
    } else if (name == "abs" && one) {
      const std::string& number = given[0].number;
      out.number = "(" + number + " < 0 ? -" + number + " : " + number + ")";
      out.divisor = given[0].divisor;
      out.maybe_negative = false;
    } else if ((name == "ceil" || name == "floor" || name == "int") && one) {
      // int() rounds towards zero, as our / does; divisors are positive.
      const std::string divisor = given[0].divisor.empty() ? "1" : given[0].divisor;
      const std::string& number = given[0].number;
      if (divisor == "1") {
        out.number = number;
      } else if (name == "int") {
        out.number = "(" + number + " / " + divisor + ")";
      } else {
        out.number = name + "_div(" + number + ", " + divisor + ")";
      }
    } else {
      Unsupported("the function '" + name + "' of " + std::to_string(given.size()) +
                  " arguments cannot be said");
    }
    return out;
  }

  std::string_view text_;
  const std::vector<SpaceParameter>& parameters_;
  PythonTokens tokens_{text_};
  int depth_ = 0;
  Token token_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<std::string> FromPython(std::string_view text,
                                     const std::vector<SpaceParameter>& parameters) {
  TRY_ASSIGN(std::string said, Translator(text, parameters).Translate());
  const auto understood = records::Expression::Parse(said);
  // Brackets in brackets, mostly: a chain of many conditions.
  if (!understood) return base::Fail(base::Unsupported(understood.error().message));
  return said;
}

base::Result<std::int64_t> PythonConstant(std::string_view text) {
  const std::vector<SpaceParameter> none;
  return Translator(text, none).Constant();
}

}  // namespace cupilot::search
