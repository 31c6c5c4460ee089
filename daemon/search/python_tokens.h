// The words of an expression of Python. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cupilot::search {

struct PythonToken {
  enum Kind { kEnd, kNumber, kName, kText, kUnendedText, kSign } kind = kEnd;
  std::string text;  // of a text what stands between its quotes; names may have points in them
  std::size_t column = 0;  // from 0
};

// Besides Python's signs && and ||, which Kernel Tuner's files have. Comments are left out.
class PythonTokens {
 public:
  // The text must live as long.
  explicit PythonTokens(std::string_view text) : text_(text) {}

  // kEnd for ever behind the last one.
  PythonToken Next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct PythonNumber {
  std::int64_t number = 0;
  std::string divisor;  // a power of ten; empty: 1
};

// "48", "0x30", "1.5". Nothing: it is another number, or none.
std::optional<PythonNumber> ReadPythonNumber(const std::string& text);

}  // namespace cupilot::search
