// What is read from outside, or written for a compiler, as functions of any bytes. Each returns
// what is wrong, empty if nothing: more than that nothing crashes is asked (what is printed reads
// back, what is written closes its brackets). The fuzzers run them on what they invent, corpus_test
// on the files of corpus/<name>/.
#pragma once

#include <string>
#include <string_view>

namespace cupilot::fuzz {

std::string Tags(std::string_view bytes);
std::string Lexer(std::string_view bytes);
std::string SwappedSource(std::string_view bytes);
std::string Formats(std::string_view bytes);
std::string Expressions(std::string_view bytes);
std::string Protocol(std::string_view bytes);
std::string VariantText(std::string_view bytes);

struct Target {
  const char* name;
  std::string (*run)(std::string_view bytes);
};
inline constexpr Target kTargets[] = {
    {"tags", Tags},
    {"lexer", Lexer},
    {"formats", Formats},
    {"swapped_source", SwappedSource},
    {"protocol", Protocol},
    {"expressions", Expressions},
    {"variant_text", VariantText},
};

}  // namespace cupilot::fuzz
