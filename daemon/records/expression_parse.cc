#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "records/expression_node.h"

namespace cupilot::records {
namespace {

using Node = Expression::Node;
using NodePointer = std::unique_ptr<const Node>;

constexpr std::size_t kMaxLength = 8192;
constexpr int kMaxNesting = 100;
constexpr std::uint64_t kMagnitudeOfMin = std::uint64_t{1} << 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Token {
  enum class Kind { kEnd, kNumber, kName, kSymbol };
  Kind kind = Kind::kEnd;
  int column = 1;
  std::string text;
  std::uint64_t number = 0;
};

struct Function {
  std::string_view name;
  Operation operation;
  int least;
  int most;             // -1: any number
  unsigned names_only;  // bit i: argument i is a name (of a pointer, of an entry)
};
constexpr std::array<Function, 10> kFunctions = {{
    {"ceil_div", Operation::kCeilDiv, 2, 2, 0},
    {"floor_div", Operation::kFloorDiv, 2, 2, 0},
    {"round_up", Operation::kRoundUp, 2, 2, 0},
    {"min", Operation::kMin, 2, -1, 0},
    {"max", Operation::kMax, 2, -1, 0},
    {"log2_ceil", Operation::kLog2Ceil, 1, 1, 0},
    {"aligned", Operation::kAligned, 2, 2, 1U},
    {"disjoint", Operation::kDisjoint, 4, 4, 1U | 4U},
    {"is_null", Operation::kIsNull, 1, 1, 1U},
    {"blocks_per_sm", Operation::kBlocksPerSm, 1, 1, 1U},
}};

struct Operator {
  std::string_view text;
  Operation operation;
  int level;  // the higher, the tighter
};
constexpr std::array<Operator, 13> kOperators = {{
    {"||", Operation::kOr, 1},
    {"&&", Operation::kAnd, 2},
    {"==", Operation::kEqual, 3},
    {"!=", Operation::kNotEqual, 3},
    {"<", Operation::kLess, 4},
    {"<=", Operation::kLessEqual, 4},
    {">", Operation::kGreater, 4},
    {">=", Operation::kGreaterEqual, 4},
    {"+", Operation::kAdd, 5},
    {"-", Operation::kSubtract, 5},
    {"*", Operation::kMultiply, 6},
    {"/", Operation::kDivide, 6},
    {"%", Operation::kRemainder, 6},
}};

class Parser {
 public:
  Parser(std::string_view text, base::Error& error) : text_(text), error_(error) {}

  NodePointer Whole() {
    if (text_.size() > kMaxLength) {
      return Failed(static_cast<int>(kMaxLength), "the expression is longer than 8192 bytes");
    }
    if (!Advance()) return nullptr;
    NodePointer root = Conditional();
    if (root == nullptr) return nullptr;
    if (token_.kind != Token::Kind::kEnd) return Unexpected("an operator or the end");
    return root;
  }

 private:
  NodePointer Failed(int column, const std::string& what) {
    error_ = ExpressionError(column, what);
    return nullptr;
  }

  NodePointer Unexpected(const std::string& expected) {
    const std::string found =
        token_.kind == Token::Kind::kEnd ? "the end" : "'" + token_.text + "'";
    return Failed(token_.column, "expected " + expected + ", found " + found);
  }

  bool Is(std::string_view symbol) const {
    return token_.kind == Token::Kind::kSymbol && token_.text == symbol;
  }

  // Reads the next token; false with an error for text that is none.
  bool Advance() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    token_ = Token{};
    token_.column = static_cast<int>(at_) + 1;
    if (at_ == text_.size()) return true;
    const char c = text_[at_];
    if (IsDigit(c)) return Number();
    if (IsLetter(c) || c == '$') return Name();
    for (const std::string_view symbol : {"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-",
                                          "*", "/", "%", "!", "?", ":", "(", ")", ","}) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      token_.kind = Token::Kind::kSymbol;
      token_.text = std::string(symbol);
      at_ += symbol.size();
      return true;
    }
    Failed(token_.column, std::string("unexpected character '") + c + "'");
    return false;
  }

  bool Number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || IsLetter(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    token_.kind = Token::Kind::kNumber;
    token_.text = std::string(word);
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    const std::string_view digits = hexadecimal ? word.substr(2) : word;
    const unsigned base = hexadecimal ? 16 : 10;
    if (!hexadecimal && word.size() > 1 && word[0] == '0') {
      Failed(token_.column,
             "'" + token_.text + "': numbers are decimal, without leading zeros, or 0x");
      return false;
    }
    if (digits.empty()) {
      Failed(token_.column, "expected digits after 0x");
      return false;
    }
    for (const char c : digits) {
      unsigned digit = 99;
      if (IsDigit(c)) digit = static_cast<unsigned>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
      if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
      if (digit >= base) {
        Failed(token_.column, "'" + token_.text + "' is not an integer");
        return false;
      }
      if (token_.number > (kMagnitudeOfMin - digit) / base) {
        Failed(token_.column, "'" + token_.text + "' does not fit in 64 bits");
        return false;
      }
      token_.number = token_.number * base + digit;
    }
    return true;
  }

  // An identifier or $k, then members and constant subscripts: p.dims[2].
  bool Name() {
    token_.kind = Token::Kind::kName;
    const std::size_t begin = at_++;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    if (text_[begin] == '$') {
      const std::string_view position = text_.substr(begin + 1, at_ - begin - 1);
      if (position.empty() || position.find_first_not_of("0123456789") != std::string_view::npos) {
        Failed(token_.column, "expected a position after '$', as in $2");
        return false;
      }
    }
    while (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[')) {
      if (!Suffix()) return false;
    }
    token_.text = std::string(text_.substr(begin, at_ - begin));
    return true;
  }

  bool Suffix() {
    const bool member = text_[at_++] == '.';
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || (member && IsLetter(text_[at_])))) ++at_;
    bool good = at_ > begin && (!member || !IsDigit(text_[begin]));
    if (!member) {
      good = good && at_ < text_.size() && text_[at_] == ']';
      ++at_;
    }
    if (!good) {
      Failed(static_cast<int>(begin) + 1,
             member ? "expected a member's name after '.'" : "expected a number and ']'");
      return false;
    }
    return true;
  }

  NodePointer Conditional() {
    if (++depth_ > kMaxNesting) return Failed(token_.column, "nested too deeply");
    NodePointer condition = Binary(1);
    if (condition != nullptr && Is("?")) condition = Branches(std::move(condition));
    --depth_;
    return condition;
  }

  NodePointer Branches(NodePointer condition) {
    auto node = std::make_unique<Node>();
    node->operation = Operation::kConditional;
    node->column = token_.column;
    node->name = "?";
    node->children.push_back(std::move(condition));
    if (!Advance()) return nullptr;
    NodePointer yes = Conditional();
    if (yes == nullptr) return nullptr;
    if (!Is(":")) return Unexpected("':'");
    if (!Advance()) return nullptr;
    NodePointer no = Conditional();
    if (no == nullptr) return nullptr;
    node->children.push_back(std::move(yes));
    node->children.push_back(std::move(no));
    return node;
  }

  const Operator* OperatorAt(int level) const {
    if (token_.kind != Token::Kind::kSymbol) return nullptr;
    for (const Operator& entry : kOperators) {
      if (entry.level >= level && entry.text == token_.text) return &entry;
    }
    return nullptr;
  }

  // Operators of at least this level, left to right (precedence climbing).
  NodePointer Binary(int level) {
    NodePointer left = Unary();
    while (left != nullptr) {
      const Operator* found = OperatorAt(level);
      if (found == nullptr) break;
      auto node = std::make_unique<Node>();
      node->operation = found->operation;
      node->column = token_.column;
      node->name = std::string(found->text);
      if (!Advance()) return nullptr;
      NodePointer right = Binary(found->level + 1);
      if (right == nullptr) return nullptr;
      node->children.push_back(std::move(left));
      node->children.push_back(std::move(right));
      left = std::move(node);
    }
    return left;
  }

  NodePointer Unary() {
    if (!Is("-") && !Is("!")) return Primary();
    const bool negate = Is("-");
    const int column = token_.column;
    if (!Advance()) return nullptr;
    const bool is_min =
        negate && token_.kind == Token::Kind::kNumber && token_.number == kMagnitudeOfMin;
    auto node = std::make_unique<Node>();
    node->column = column;
    if (is_min) {
      node->value = std::numeric_limits<std::int64_t>::min();
      return Advance() ? std::move(node) : nullptr;
    }
    if (++depth_ > kMaxNesting) return Failed(column, "nested too deeply");
    node->operation = negate ? Operation::kNegate : Operation::kNot;
    node->name = negate ? "-" : "!";
    NodePointer operand = Unary();
    --depth_;
    if (operand == nullptr) return nullptr;
    node->children.push_back(std::move(operand));
    return node;
  }

  NodePointer Primary() {
    if (Is("(")) {
      if (!Advance()) return nullptr;
      NodePointer inner = Conditional();
      if (inner == nullptr) return nullptr;
      if (!Is(")")) return Unexpected("')'");
      return Advance() ? std::move(inner) : nullptr;
    }
    auto node = std::make_unique<Node>();
    node->column = token_.column;
    if (token_.kind == Token::Kind::kNumber) {
      if (token_.number >= kMagnitudeOfMin) {
        return Failed(token_.column, "'" + token_.text + "' does not fit in 64 bits");
      }
      node->value = static_cast<std::int64_t>(token_.number);
      return Advance() ? std::move(node) : nullptr;
    }
    if (token_.kind != Token::Kind::kName) return Unexpected("a number, a name or '('");
    node->operation = Operation::kName;
    node->name = token_.text;
    if (!Advance()) return nullptr;
    if (Is("(")) return Call(std::move(node));
    if (node->name == "true" || node->name == "false") {
      node->operation = Operation::kConstant;
      node->value = node->name == "true" ? 1 : 0;
    }
    return node;
  }

  NodePointer Call(std::unique_ptr<Node> node) {
    const Function* function = nullptr;
    for (const Function& entry : kFunctions) {
      if (entry.name == node->name) function = &entry;
    }
    if (function == nullptr) {
      return Failed(node->column, "unknown function '" + node->name + "'");
    }
    node->operation = function->operation;
    do {
      if (!Advance()) return nullptr;
      NodePointer argument = Conditional();
      if (argument == nullptr) return nullptr;
      const std::size_t index = node->children.size();
      const bool name_wanted = index < 32 && (function->names_only >> index & 1U) != 0;
      if (name_wanted && argument->operation != Operation::kName) {
        const char* what = function->operation == Operation::kBlocksPerSm ? "entry" : "pointer";
        return Failed(argument->column,
                      std::string("expected the name of a") + (what[0] == 'e' ? "n " : " ") + what);
      }
      node->children.push_back(std::move(argument));
    } while (Is(","));
    if (!Is(")")) return Unexpected("',' or ')'");
    const int count = static_cast<int>(node->children.size());
    if (count < function->least || (function->most >= 0 && count > function->most)) {
      return Failed(node->column, "'" + node->name + "' takes " +
                                      (function->most < 0 ? "at least " : "") +
                                      std::to_string(function->least) + " arguments, found " +
                                      std::to_string(count));
    }
    return Advance() ? std::move(node) : nullptr;
  }

  std::string_view text_;
  base::Error& error_;
  std::size_t at_ = 0;
  Token token_;
  int depth_ = 0;
};

}  // namespace

base::Error ExpressionError(int column, const std::string& what) {
  return base::InvalidArgument("column " + std::to_string(column) + ": " + what);
}

NodePointer ParseExpression(std::string_view text, base::Error& error) {
  return Parser(text, error).Whole();
}

}  // namespace cupilot::records
