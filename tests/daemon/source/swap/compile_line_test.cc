#include "source/swap/compile_line.h"

#include <gtest/gtest.h>

#include "swap_fixture.h"

namespace cupilot::source {
namespace {

using Words = std::vector<std::string>;

class CompileLineTest : public SwapFolder {};

TEST_F(CompileLineTest, ReadsWhatCMakeWrites) {
  const CompileLine line = ReadCompileLine(
      {"/opt/bin/nvcc", "-forward-unknown-to-host-compiler", "-DA=\"x\"", "-I/i", "-MD", "-MT",
       "CMakeFiles/app.dir/main.cu.o", "-MF", "CMakeFiles/app.dir/main.cu.o.d", "-x", "cu", "-c",
       "/src/main.cu", "-o", "CMakeFiles/app.dir/main.cu.o"},
      "/build");
  EXPECT_TRUE(line.compiles);
  EXPECT_EQ(line.source, "/src/main.cu");
  EXPECT_EQ(line.object, "/build/CMakeFiles/app.dir/main.cu.o");
  EXPECT_EQ(line.left_alone, "");
}

TEST_F(CompileLineTest, ExpandsResponseFiles) {
  Write("flags/includes.rsp", "-I\"/a b\" -DX=\\\"y\\\"\n --options-file nested.rsp\n");
  Write("nested.rsp", "-isystem /c");
  const CompileLine line = ReadCompileLine(
      {"nvcc", "--options-file", "flags/includes.rsp", "-dc", "../src/a.cu", "-o", "a.o"}, folder_);
  EXPECT_TRUE(line.compiles);
  EXPECT_EQ(line.arguments, (Words{"nvcc", "-I/a b", "-DX=\"y\"", "-isystem", "/c", "-dc",
                                   "../src/a.cu", "-o", "a.o"}));
  EXPECT_EQ(line.source, std::filesystem::path(folder_).parent_path().string() + "/src/a.cu");
}

TEST_F(CompileLineTest, OtherCommandsAreNone) {
  const std::vector<Words> commands = {
      {"nvcc"},
      {},
      {"nvcc", "main.o", "-o", "app"},
      {"nvcc", "-E", "main.cu", "-c", "-o", "x"},
      {"nvcc", "-ptx", "-c", "main.cu", "-o", "x"},
      {"nvcc", "-dlink", "main.o", "-o", "x.o"},
      {"nvcc", "-M", "-c", "main.cu", "-o", "x.d"},
      {"nvcc", "-c", "main.cu"},                    // names no object
      {"nvcc", "-c", "a.cu", "b.cu", "-o", "x.o"},  // two sources
      {"nvcc", "-c", "main.cpp", "-o", "x.o"},
      {"nvcc", "-c", "a.cu", "-o", "x.o", "a.cu"},  // which word is it?
      {"nvcc", "--version"}};
  for (const Words& words : commands) {
    EXPECT_FALSE(ReadCompileLine(words, "/b").compiles) << ::testing::PrintToString(words);
  }
}

TEST_F(CompileLineTest, InstrumentedAndDebuggedCodeIsLeftAlone) {
  for (const char* option :
       {"-G", "--device-debug", "-fsanitize=address", "-Xcompiler=-Wall,-fsanitize=undefined",
        "--coverage", "-fprofile-arcs", "-fprofile-instr-generate"}) {
    const CompileLine line = ReadCompileLine({"nvcc", option, "-c", "a.cu", "-o", "a.o"}, "/b");
    EXPECT_TRUE(line.compiles);
    EXPECT_NE(line.left_alone, "") << option;
  }
  for (const char* option : {"-g", "-lineinfo", "-fno-sanitize=all", "-DG", "-O0"}) {
    EXPECT_EQ(ReadCompileLine({"nvcc", option, "-c", "a.cu", "-o", "a.o"}, "/b").left_alone, "")
        << option;
  }
}

TEST_F(CompileLineTest, ValuesOfOptionsAreNoSources) {
  const CompileLine line = ReadCompileLine(
      {"nvcc", "-include", "pre.cu", "-D", "x.cu", "-c", "a.cu", "-o", "out.cu"}, "/b");
  EXPECT_TRUE(line.compiles);
  EXPECT_EQ(line.source, "/b/a.cu");
  EXPECT_EQ(line.object, "/b/out.cu");
}

}  // namespace
}  // namespace cupilot::source
