// What a compile makes for which GPU, and which of it a GPU runs.
#include "records/code_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::records {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

CompileCommand Command(Words words) {
  CompileCommand command;
  command.arguments = {"nvcc", "-O3"};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return command;
}

Words Texts(const CompileCommand& command, const std::string& native = "sm_90") {
  Words texts;
  for (const CodeTarget& target : CodeTargets(command, native)) texts.push_back(target.Text());
  return texts;
}

TEST(CodeTargetsTest, EachSpellingOfTheOptions) {
  const struct {
    Words words;
    Words targets;
  } rows[] = {
      {{}, {"compute_75,sm_75", "compute_75,compute_75"}},
      {{"-arch=sm_90"}, {"compute_90,sm_90", "compute_90,compute_90"}},
      {{"-arch", "sm_90a"}, {"compute_90a,sm_90a", "compute_90a,compute_90a"}},
      {{"--gpu-architecture=compute_80"}, {"compute_80,compute_80"}},
      {{"-arch=compute_80", "-code=sm_86,compute_80"},
       {"compute_80,sm_86", "compute_80,compute_80"}},
      {{"-arch=native"}, {"compute_90,sm_90"}},
      {{"-gencode", "arch=compute_80,code=sm_80"}, {"compute_80,sm_80"}},
      {{"--generate-code=arch=compute_80,code=[compute_80,sm_80]",
        "--generate-code=arch=compute_90,code=[sm_90]"},
       {"compute_80,compute_80", "compute_80,sm_80", "compute_90,sm_90"}},
      {{"-gencode=arch=compute_80,code=\"sm_80,sm_86\""}, {"compute_80,sm_80", "compute_80,sm_86"}},
      {{"-gencode", "arch=compute_90,code=lto_90"}, {"compute_90,sm_90"}},
      {{"-arch=nonsense"}, {}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Texts(Command(row.words)), row.targets)
        << (row.words.empty() ? "" : row.words.front());
  }
}

TEST(CodeTargetsTest, WhatNativeIsMayNotBeKnown) {
  EXPECT_THAT(Texts(Command({"-arch=native"}), ""), IsEmpty());
}

TEST(CodeTargetsTest, TheEnvironmentsFlagsCount) {
  CompileCommand command = Command({});
  command.environment = {{"NVCC_APPEND_FLAGS", "-lineinfo -arch=sm_80"}};
  EXPECT_EQ(Texts(command), (Words{"compute_80,sm_80", "compute_80,compute_80"}));
}

std::string On(const Words& words, const std::string& arch) {
  const auto loaded = LoadedOn(CodeTargets(Command(words), arch), arch);
  return loaded ? loaded->Text() : "";
}

TEST(CodeTargetsTest, TheDeviceRunsItsOwnCodeBeforeOlderAndPtx) {
  const Words both = {"-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode",
                      "arch=compute_90,code=sm_90"};
  EXPECT_EQ(On(both, "sm_90"), "compute_90,sm_90");
  EXPECT_EQ(On(both, "sm_80"), "compute_80,sm_80");
  EXPECT_EQ(On(both, "sm_86"), "compute_80,sm_80");
  EXPECT_EQ(On(both, "sm_100"), "compute_80,sm_100");
  EXPECT_EQ(On(both, "sm_75"), "");
  EXPECT_EQ(On({}, "sm_90"), "compute_75,sm_90");
}

TEST(CodeTargetsTest, CodeForOneArchitectureRunsNowhereElse) {
  EXPECT_EQ(On({"-arch=sm_90a"}, "sm_90"), "compute_90a,sm_90a");
  EXPECT_EQ(On({"-arch=sm_90a"}, "sm_100"), "");
  EXPECT_EQ(On({"-gencode", "arch=compute_90,code=sm_90", "-arch=sm_90a"}, "sm_90"),
            "compute_90a,sm_90a");
  EXPECT_EQ(On({"-arch=sm_100f"}, "sm_103"), "compute_100f,sm_100f");
  EXPECT_EQ(On({"-arch=sm_100f"}, "sm_120"), "");
}

TEST(CodeTargetsTest, WhatIsMissingIsSaidWithWhatToDo) {
  const auto why = [](const Words& words, const std::string& arch) {
    return WhyNotNative(CodeTargets(Command(words), arch), arch);
  };
  EXPECT_EQ(why({"-arch=sm_90"}, "sm_90"), "");
  EXPECT_EQ(why({"-arch=sm_90a"}, "sm_90"), "");
  EXPECT_EQ(why({"-arch=native"}, "sm_90"), "");
  EXPECT_THAT(why({}, "sm_90"), HasSubstr("your build has no sm_90 code"));
  EXPECT_THAT(why({}, "sm_90"), HasSubstr("compute_75 code, compiled by the driver"));
  EXPECT_THAT(why({}, "sm_90"), HasSubstr("CMAKE_CUDA_ARCHITECTURES=native or 90"));
  EXPECT_THAT(why({"-arch=sm_90"}, "sm_80"), HasSubstr("it does not run on this GPU"));
}

}  // namespace
}  // namespace cupilot::records
