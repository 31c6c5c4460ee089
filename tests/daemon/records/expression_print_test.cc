// Random expressions, evaluated here and as the C++11 that PrintCpp() writes: both must give the
// same value or both must fail. One translation unit holds all of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "records/expression.h"

namespace cupilot::records {
namespace {

constexpr int kExpressions = 600;

struct Integer {
  const char* name;
  std::int64_t value;
};
constexpr Integer kIntegers[] = {{"width", 1920},
                                 {"n", 7},
                                 {"zero", 0},
                                 {"minus", -1},
                                 {"min64", std::numeric_limits<std::int64_t>::min()},
                                 {"max64", std::numeric_limits<std::int64_t>::max()},
                                 {"$2", 12},
                                 {"p.dims[1]", -5}};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string Text(int depth) {
    if (depth == 0 || Pick(6) == 0) return Leaf();
    switch (Pick(12)) {
      case 0:
        return "(" + Text(depth - 1) + ")";
      case 1:
        return (Pick(2) == 0 ? "-" : "!") + std::string("(") + Text(depth - 1) + ")";
      case 2:
        return "(" + Text(depth - 1) + " ? " + Text(depth - 1) + " : " + Text(depth - 1) + ")";
      case 3:
        return "(" + Text(depth - 1) + (Pick(2) == 0 ? " && " : " || ") + Text(depth - 1) + ")";
      case 4:
        return Function(depth - 1);
      case 5:
        return Comparison(depth - 1);
      case 6:
        return PointerTest(depth - 1);
      default:
        return "(" + Text(depth - 1) + " " + Choose({"+", "-", "*", "/", "%"}) + " " +
               Text(depth - 1) + ")";
    }
  }

 private:
  unsigned Pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string Choose(std::vector<std::string> words) {
    return words[Pick(static_cast<unsigned>(words.size()))];
  }

  std::string Leaf() {
    switch (Pick(4)) {
      case 0:
        return std::to_string(Pick(5));
      case 1:
        return Choose({"9223372036854775807", "-9223372036854775808", "0x7fffffff", "4294967296",
                       "3037000500"});
      default:
        return kIntegers[Pick(std::size(kIntegers))].name;
    }
  }

  std::string Function(int depth) {
    const std::string name =
        Choose({"ceil_div", "floor_div", "round_up", "min", "max", "log2_ceil", "blocks_per_sm"});
    if (name == "blocks_per_sm") return name + "(blur)";
    if (name == "log2_ceil") return name + "(" + Text(depth) + ")";
    return name + "(" + Text(depth) + ", " + Text(depth) + ")";
  }

  std::string Comparison(int depth) {
    const std::string sign = Choose({"<", "<=", ">", ">=", "==", "!="});
    const auto side = [&] { return Pick(4) == 0 ? Choose({"alpha", "beta"}) : Text(depth); };
    const std::string left = side();
    return "(" + left + " " + sign + " " + side() + ")";
  }

  std::string PointerTest(int depth) {
    const std::string pointer = Choose({"in", "out", "none"});
    switch (Pick(3)) {
      case 0:
        return "is_null(" + pointer + ")";
      case 1:
        return "aligned(" + pointer + ", " + Choose({"4", "16", "32", "12", Text(depth)}) + ")";
      default:
        return "disjoint(" + pointer + ", " + Text(depth) + ", out, " + Text(depth) + ")";
    }
  }

  std::mt19937 random_;
};

Environment Names() {
  Environment environment;
  for (const Integer& entry : kIntegers) environment.integers[entry.name] = entry.value;
  environment.floats = {{"alpha", 0.5}, {"beta", 7.0}};
  environment.pointers = {{"in", 0x1010}, {"out", 0x2000}, {"none", 0}};
  environment.blocks_per_sm = [](std::string_view) { return std::optional<std::int64_t>(8); };
  return environment;
}

std::optional<PrintedName> Printed(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kIntegers); ++i) {
    if (name == kIntegers[i].name) {
      return PrintedName{NameKind::kInteger, "integers[" + std::to_string(i) + "]"};
    }
  }
  if (name == "alpha") return PrintedName{NameKind::kFloating, "alpha"};
  if (name == "beta") return PrintedName{NameKind::kFloating, "beta"};
  if (name == "blocks_per_sm(blur)") return PrintedName{NameKind::kInteger, "8LL", "true"};
  if (name == "in" || name == "out" || name == "none") {
    return PrintedName{NameKind::kPointer, std::string(name)};
  }
  return std::nullopt;
}

std::string Program(const std::vector<Expression>& expressions) {
  std::string text = "#include <cstdio>\nnamespace {\n" + PrintedHelpers() + "}\n";
  text += "static volatile long long integers[] = {";
  for (const Integer& entry : kIntegers) {
    text += "(long long)" + std::to_string(static_cast<std::uint64_t>(entry.value)) + "ULL, ";
  }
  text += "};\nstatic float alpha = 0.5f;\nstatic double beta = 7.0;\n";
  text += "static const void* in = (const void*)0x1010; static float* out = (float*)0x2000;\n";
  text += "static int* none = 0;\n";
  std::string calls;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const auto printed = expressions[i].PrintCpp("result", Printed);
    EXPECT_TRUE(printed.has_value()) << expressions[i].text();
    if (!printed) continue;
    const std::string name = "run" + std::to_string(i);
    text += "static void " + name + "() {\n  long long result = 0;\n  if (" + *printed +
            ") printf(\"%lld\\n\", result); else printf(\"failed\\n\");\n}\n";
    calls += "  " + name + "();\n";
  }
  return text + "int main() {\n" + calls + "}\n";
}

std::vector<std::string> RunProgram(const std::string& text) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("cupilot-print-" + std::to_string(getpid()));
  EXPECT_TRUE(base::WriteFileAtomically(folder + "/all.cc", text).has_value());
  const std::string command =
      "g++ -std=c++11 -Wall -Werror -O0 -fsanitize=undefined -fno-sanitize-recover=all '" + folder +
      "/all.cc' -o '" + folder + "/all' && '" + folder + "/all' > '" + folder + "/lines'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::vector<std::string> lines;
  const auto output = base::ReadFile(folder + "/lines");
  EXPECT_TRUE(output.has_value());
  std::string line;
  for (const char c : output.value_or("")) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else {
      line += c;
    }
  }
  EXPECT_TRUE(base::RemoveTree(folder).has_value());
  return lines;
}

TEST(PrintCpp, AgreesWithEvaluateOnRandomExpressions) {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no g++";
  Generator generator(20261121);
  std::vector<Expression> expressions;
  for (const char* text : {"min64 / minus", "min64 % minus", "0 && n / zero", "1 || n / zero",
                           "1 ? n : n / zero", "-min64", "max64 + 1", "alpha < beta", "beta == n",
                           "floor_div(min64, minus)", "round_up(max64, 2)"}) {
    expressions.push_back(*Expression::Parse(text));
  }
  while (expressions.size() < kExpressions) {
    const std::string text = generator.Text(1 + static_cast<int>(expressions.size() % 5));
    auto parsed = Expression::Parse(text);
    ASSERT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
    expressions.push_back(std::move(*parsed));
  }
  const std::vector<std::string> lines = RunProgram(Program(expressions));
  ASSERT_EQ(lines.size(), expressions.size());
  int failures = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto value = expressions[i].Evaluate(Names());
    EXPECT_EQ(value ? std::to_string(*value) : "failed", lines[i]) << expressions[i].text();
    failures += value ? 0 : 1;
  }
  // Both kinds must be there in numbers for this to mean something.
  EXPECT_GT(failures, kExpressions / 10);
  EXPECT_LT(failures, kExpressions * 9 / 10);
}

}  // namespace
}  // namespace cupilot::records
