#include "source/syntax/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PreprocessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() /
               ("cupilot-preprocess-" + std::to_string(getpid())))
                  .string();
    Write("toolkit/cuda_runtime.h",
          "#define __global__ __attribute__((global))\n#define __device__ __attribute__((device))\n"
          "struct dim3 { int x; };\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }

  Preprocessed Run(const std::string& text, std::vector<std::string> macros = {}) const {
    PreprocessOptions options;
    options.file_name = folder_ + "/main.cu";
    options.directory = folder_;
    options.toolkit_folders = {folder_ + "/toolkit"};
    options.include_folders = {folder_ + "/include"};
    options.includes = {"cuda_runtime.h"};
    options.macros = std::move(macros);
    auto result = Preprocess(text, options);
    EXPECT_TRUE(result.has_value());
    return result ? std::move(*result) : Preprocessed{};
  }

  std::string folder_;
};

TEST_F(PreprocessTest, QualifiersStayAsWrittenAndOtherMacrosAreExpanded) {
  const Preprocessed result = Run("#define N 4\n__global__ void k(int* x) {\n  x[N] = N + 1;\n}\n");
  EXPECT_THAT(result.text, HasSubstr("__global__ void k(int* x) {\n  x[4] = 4 + 1;\n}\n"));
  ASSERT_EQ(result.macros.size(), 1u);
  EXPECT_EQ(result.macros[0].definition, "#define N 4");
  EXPECT_FALSE(result.macros[0].under_ifndef);
}

TEST_F(PreprocessTest, StretchesLeadBackToTheFile) {
  const std::string text = "#define TWICE(a) ((a) + (a))\nint x = TWICE( 3 );\n";
  const Preprocessed result = Run(text);
  const std::size_t at = result.text.find("((3)");
  ASSERT_NE(at, std::string::npos);
  for (const Stretch& stretch : result.stretches) {
    const std::string written =
        text.substr(stretch.file_begin, stretch.file_end - stretch.file_begin);
    const std::string printed = result.text.substr(stretch.begin, stretch.end - stretch.begin);
    if (stretch.begin >= at && printed != ";") {
      EXPECT_EQ(written, "TWICE( 3 )");
    } else {
      EXPECT_EQ(written, printed);
    }
  }
}

TEST_F(PreprocessTest, TellsUserFilesFromTheToolkits) {
  Write("include/mine.h", "#pragma once\ninline int mine() { return 1; }\n");
  const Preprocessed result =
      Run("#include \"mine.h\"\n#include <cstddef>\n#include <mine.h>\nint y;\n");
  EXPECT_THAT(result.files, ElementsAre(folder_ + "/main.cu", folder_ + "/include/mine.h"));
  EXPECT_THAT(result.system_includes, ::testing::Contains("cstddef"));
  EXPECT_THAT(result.text, HasSubstr("mine.h\" 1\n"));
  EXPECT_THAT(result.text, HasSubstr("cuda_runtime.h\" 1 3\n"));
}

TEST_F(PreprocessTest, KeepsTagsPragmasAndTheMacrosOfTheCommand) {
  const Preprocessed result =
      Run("#define WIDE 8\n#ifndef BX\n#define BX 16\n#endif\n// cupilot: tune\n// other\n"
          "void f() {\n#pragma unroll WIDE\n  for (;;) {}\n}\n#if __CUDA_ARCH__ > 1\n#endif\n",
          {"-DBX=32"});
  ASSERT_EQ(result.comments.size(), 1u);
  EXPECT_EQ(result.comments[0].line, 5);
  EXPECT_EQ(result.comments[0].text, " cupilot: tune");
  EXPECT_THAT(result.text, HasSubstr("#pragma unroll 8\n"));
  EXPECT_THAT(result.text, Not(HasSubstr("//")));
  ASSERT_EQ(result.macros.size(), 2u);
  EXPECT_EQ(result.macros[0].definition, "#define BX 32");
  EXPECT_TRUE(result.macros[0].under_ifndef);
  EXPECT_EQ(result.branches.size(), 1u);
}

TEST_F(PreprocessTest, AMissingHeaderIsAnErrorWithItsPlace) {
  const Preprocessed result = Run("int a;\n#include \"nowhere.h\"\nint b;\n");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].line, 2);
  EXPECT_THAT(result.errors[0].message, HasSubstr("nowhere.h"));
}

}  // namespace
}  // namespace cupilot::source
