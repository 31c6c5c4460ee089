// What is preprocessed behind headers that were read once is what it would be with them.
#include "source/syntax/leading_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;

class LeadingTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("cupilot-leading-" + std::to_string(getpid())))
            .string();
    Write("toolkit/cuda_runtime.h",
          "#ifndef RUNTIME\n#define RUNTIME\n"
          "#define __global__ __attribute__((global))\n"
          "#define PI 3.0\n#define TWO_PI (PI * 2)\n#define LOST 1\n#undef LOST\n"
          "#define PASTE(a) a##_pasted\n#define in_pasted 7\n"
          "#define SAY(format, rest...) f(format, rest)\n#define ANY(...) g(__VA_ARGS__)\n"
          "struct dim3 { int x; };\n#endif\n");
    Write("toolkit/once.h", "#pragma once\nstruct Once {};\n#define FROM_ONCE 5\n");
    Write("toolkit/asks.h", "#ifdef TILE\nstruct Tiled {};\n#endif\nstruct Asked {};\n");
    Write("mine.h", "#include <cuda_runtime.h>\n#define MINE (PI + TILE)\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }

  PreprocessOptions Options(std::vector<std::string> macros = {}) const {
    PreprocessOptions options;
    options.file_name = folder_ + "/main.cu";
    options.directory = folder_;
    options.toolkit_folders = {folder_ + "/toolkit"};
    options.includes = {"cuda_runtime.h"};
    options.macros = std::move(macros);
    return options;
  }

  // With TILE as 16; nothing: it cannot be read apart.
  std::optional<Preprocessed> Behind(const std::string& text) const {
    const auto leading = LeadingText::Read(text, Options());
    if (leading == nullptr || !leading->Leaves(text, {"TILE"})) return std::nullopt;
    auto result = leading->Continue(text, Options({"-DTILE=16"}));
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::optional(std::move(*result)) : std::nullopt;
  }

  // Without line markers and blanks; each token of the user's with the line it says to be on.
  static std::vector<std::string> TokensOf(const Preprocessed& result) {
    std::vector<std::string> tokens;
    std::istringstream lines(result.text);
    int number = 0;
    std::string file;
    for (std::string line; std::getline(lines, line); ++number) {
      if (line.starts_with("# ")) {
        std::istringstream words(line.substr(2));
        words >> number >> file;
        --number;
        continue;
      }
      const bool mine = file.find("main.cu") != std::string::npos;
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        tokens.push_back(mine ? word + " in " + std::to_string(number) : word);
      }
    }
    return tokens;
  }
  static std::vector<std::string> MacrosOf(const Preprocessed& result) {
    std::vector<std::string> macros;
    for (const UserMacro& macro : result.macros) {
      macros.push_back(macro.definition + (macro.under_ifndef ? " under #ifndef" : ""));
    }
    return macros;
  }
  static std::vector<std::string> StretchesOf(const Preprocessed& result, const std::string& text) {
    std::vector<std::string> found;
    for (const Stretch& one : result.stretches) {
      found.push_back(result.text.substr(one.begin, one.end - one.begin) + " of " +
                      result.files[static_cast<std::size_t>(one.file)] + " " +
                      (one.file == 0 ? text.substr(one.file_begin, one.file_end - one.file_begin)
                                     : std::to_string(one.file_begin)));
    }
    return found;
  }

  void ExpectTheSame(const std::string& text) const {
    const auto behind = Behind(text);
    ASSERT_TRUE(behind) << text;
    const auto whole = Preprocess(text, Options({"-DTILE=16"}));
    ASSERT_TRUE(whole);
    EXPECT_EQ(TokensOf(*behind), TokensOf(*whole));
    EXPECT_EQ(MacrosOf(*behind), MacrosOf(*whole));
    EXPECT_EQ(StretchesOf(*behind, text), StretchesOf(*whole, text));
    EXPECT_EQ(behind->system_includes, whole->system_includes);
    EXPECT_EQ(behind->files, whole->files);
    EXPECT_EQ(behind->errors.size(), whole->errors.size());
    ASSERT_EQ(behind->comments.size(), whole->comments.size());
    for (std::size_t i = 0; i < whole->comments.size(); ++i) {
      EXPECT_EQ(behind->comments[i].text, whole->comments[i].text);
      EXPECT_EQ(behind->comments[i].line, whole->comments[i].line);
    }
    EXPECT_EQ(behind->place_macros.size(), whole->place_macros.size());
    EXPECT_EQ(behind->branches.size(), whole->branches.size());
  }

  std::string folder_;
};

constexpr const char* kKernel = R"(
#ifndef TILE
#define TILE 4
#endif
#define AREA (TILE * TILE)
// cupilot: tune
__global__ void k(float* x) {
  x[AREA] = TWO_PI + TILE;
#ifdef __CUDA_ARCH__
  x[__LINE__] = SAY(1, 2, 3) + ANY() + LOST;
#endif
}
)";

TEST_F(LeadingTextTest, WhatFollowsIsAsWithTheHeaders) {
  ExpectTheSame(kKernel);
  ExpectTheSame(std::string("// A comment.\n/* cupilot: of\n its own */\n#include <cmath>\n"
                            "#include <cstdint>\n\n// Another.\n") +
                kKernel);
  ExpectTheSame(std::string("#include <cmath>  // why\n") + kKernel);
  ExpectTheSame(std::string("#include <vector>\n#undef PI\n#define PI 4\n") + kKernel);
}

// A name that only comes to be of two.
TEST_F(LeadingTextTest, PastedNamesAreMacrosToo) {
  ExpectTheSame("int a = PASTE(in) + TILE;\n");
  const auto behind = Behind("int a = PASTE(in);\n");
  ASSERT_TRUE(behind);
  EXPECT_NE(behind->text.find("int a = 7;"), std::string::npos);
}

TEST_F(LeadingTextTest, HeadersOfTheRestFindWhatWasThereBefore) {
  ExpectTheSame("#include <cstdint>\n#include \"mine.h\"\n#include <cmath>\nfloat x = MINE;\n");
}

TEST_F(LeadingTextTest, OnlyWhatTheHeadersCannotDifferByIsReadApart) {
  EXPECT_FALSE(Behind("#include <asks.h>\nint x = TILE;\n")) << "a header asks for the macro";
  EXPECT_TRUE(Behind("#include <once.h>\nint x = TILE + FROM_ONCE;\n"));
  EXPECT_FALSE(Behind("#include <once.h>\n#include \"mine.h\"\nint x = TILE;\n"))
      << "a header that comes once may be asked for again";
  EXPECT_FALSE(Behind("int x = __COUNTER__;\n"));
  EXPECT_FALSE(Behind("#include <missing.h>\nint x;\n"));
  PreprocessOptions options = Options();
  options.includes.push_back(folder_ + "/mine.h");
  EXPECT_EQ(LeadingText::Read("int x;\n", options), nullptr) << "a file of the user's";
}

}  // namespace
}  // namespace cupilot::source
