#include "base/compiler_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace cupilot::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompilerProgramTest, ALinkLeadsToItsToolkitFirst) {
  const test::TemporaryFolder folder;
  const std::string real = folder.Write("cuda-13/bin/nvcc",
                                        "\x7f"
                                        "ELF");
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_symlink(real, folder / "bin/nvcc");
  EXPECT_THAT(ProgramsBehind(folder / "bin/nvcc"), ElementsAre(real, folder / "bin/nvcc"));
  EXPECT_THAT(ToolkitFoldersOf(folder / "bin/nvcc"),
              ElementsAre(folder / "cuda-13", folder.path()));
}

TEST(CompilerProgramTest, AScriptLeadsToTheCompilerThatItStarts) {
  const test::TemporaryFolder folder;
  const std::string real = folder.Write("cuda-13/bin/nvcc",
                                        "\x7f"
                                        "ELF");
  const std::string script =
      folder.Write("bin/nvcc", "#!/bin/sh\nexec '/usr/bin/ccache' \"" + real + "\" \"$@\"\n");
  EXPECT_THAT(ProgramsBehind(script), ElementsAre(script, real));
  EXPECT_THAT(ToolkitFoldersOf(script), ElementsAre(folder.path(), folder / "cuda-13"));
}

TEST(CompilerProgramTest, TheCompilersFolderMayHaveABlank) {
  const test::TemporaryFolder folder;
  const std::string real = folder.Write("Mein Prüfstand/bin/nvcc",
                                        "\x7f"
                                        "ELF");
  std::string escaped = real;
  escaped.insert(escaped.find(" Pr"), "\\");
  for (const std::string& line :
       {"exec \"" + real + "\" \"$@\"", "NVCC='" + real + "'; \"$NVCC\" \"$@\"",
        "exec " + escaped + " \"$@\""}) {
    const std::string script =
        folder.Write("bin/nvcc", "#!/bin/sh\n# the machine's own\n" + line + "\n");
    EXPECT_THAT(ProgramsBehind(script), ElementsAre(script, real)) << line;
  }
}

TEST(CompilerProgramTest, ScriptsThatStartEachOtherEnd) {
  const test::TemporaryFolder folder;
  const std::string one = folder / "one/nvcc", two = folder / "two/nvcc";
  folder.Write("one/nvcc", "#!/bin/sh\n" + two + "\n");
  folder.Write("two/nvcc", "#!/bin/sh\n" + one + "\n");
  EXPECT_THAT(ProgramsBehind(one), ElementsAre(one, two));
}

TEST(CompilerProgramTest, AToolkitsCompilerNeedNotBeOnThePath) {
  const test::TemporaryFolder folder;
  const std::string on_path = folder.Write("path/nvcc", "#!/bin/sh\n");
  const std::string named = folder.Write("cuda/bin/nvcc", "#!/bin/sh\n");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder / "empty").append(":").append(folder / "path").c_str(), 1);
  ::setenv("CUDA_HOME", (folder / "cuda").c_str(), 1);
  const std::vector<std::string> found = NvccPrograms();
  const std::string first = FindNvcc();
  folder.Write("include/cupilot_host_abi.h", "");  // now the one on the path is the host device's
  const std::string next = FindNvcc();
  ::setenv("PATH", path.c_str(), 1);
  ::unsetenv("CUDA_HOME");
  // Behind them is what this machine has.
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0], on_path);
  EXPECT_EQ(found[1], named);
  EXPECT_EQ(first, on_path);
  EXPECT_EQ(next, named);
}

TEST(CompilerProgramTest, WhatIsNotThereHasNothingBehindIt) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(ProgramsBehind(folder / "nvcc"), IsEmpty());
  const std::string script = folder.Write("nvcc", "#!/bin/sh\nexec " + (folder / "gone/nvcc"));
  EXPECT_THAT(ProgramsBehind(script), ElementsAre(script));
  EXPECT_EQ(FindProgram("cupilot-no-such-compiler", "/"), "");
  EXPECT_EQ(FindProgram("bin/nvcc", "/opt"), "/opt/bin/nvcc");
}

}  // namespace
}  // namespace cupilot::base
