// `cupilot capture` with everything real, on the host device: a project whose kernels say no
// workload is built, its program run once, and the daemon tunes on what was seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "tests/integration/capture/capture_fixture.h"

namespace cupilot {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

class CaptureTest : public BuiltProjectTest {
 protected:
  CaptureTest() : BuiltProjectTest(CUPILOT_TEST_PROJECT) {}
};

TEST_F(CaptureTest, KernelsAreTunedOnWhatOneRunOfTheProgramShows) {
  const std::string printed = Succeed({build() + "/app"});
  ASSERT_TRUE(WaitFor([&] { return Row("squares").value("state", "") == "no workload"; }));

  const auto run = Run({CUPILOT_PROGRAM, "--json", "capture", "--", "./app"});
  ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  // The program says what it always says; its output is not in the document's way.
  EXPECT_THAT(run.errors, HasSubstr(printed));
  const auto captured = records::ParseJson(run.output);
  ASSERT_TRUE(captured) << run.output;
  EXPECT_EQ((*captured)["schema"], "cupilot.capture/1");
  ASSERT_EQ((*captured)["kernels"].size(), 5u) << run.output;
  EXPECT_THAT((*captured)["problems"].dump(),
              HasSubstr("batched: no launch was recorded; argument 1 leads to pointers in memory"));

  const Json list = Ask({"workload", "list"});
  ASSERT_EQ(list["workloads"].size(), 5u) << list.dump();
  EXPECT_EQ(Ask({"workload", "show", "moved::shift<float, 3, way::Down>"})["launches"][0]["calls"],
            1);
  const Json shown = Ask({"workload", "show", "squares"});
  ASSERT_EQ(shown["launches"].size(), 2u) << shown.dump();
  std::int64_t calls = 0;
  for (const Json& launches : shown["launches"]) calls += launches["calls"].get<std::int64_t>();
  EXPECT_EQ(calls, 12);
  const Json list_of_all = Ask({"list", "--untagged"});
  const Json& untagged = list_of_all["untagged"];
  ASSERT_EQ(untagged.size(), 1u);
  EXPECT_EQ(untagged[0]["calls"], 3);
  EXPECT_THAT(untagged[0]["kernel"].get<std::string>(), HasSubstr("untold"));

  // The data leaves the store only where it is asked for.
  Succeed({CUPILOT_PROGRAM, "workload", "export", "scale", "-o", "shapes.json"});
  const std::string shapes = *base::ReadFile(build() + "/shapes.json");
  EXPECT_THAT(shapes, Not(HasSubstr("\"file\"")));
  Succeed({CUPILOT_PROGRAM, "workload", "export", "scale", "-o", "data.json", "--with-data"});
  const Json data = *records::ParseJson(*base::ReadFile(build() + "/data.json"));
  const Json& one = data["cases"][0];
  ASSERT_EQ(one["globals"].size(), 1u) << data.dump();
  const std::string factors =
      *base::ReadFile(build() + "/" + one["globals"][0]["fill"]["path"].get<std::string>());
  const float expected[2] = {0.5f, 3};
  ASSERT_EQ(factors.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(factors.data(), expected, sizeof expected), 0);
  EXPECT_EQ(one["arguments"][0]["pointers"].size(), 1u);

  // The table that a tag declares is followed: into two allocations, of which one is an argument's.
  Succeed({CUPILOT_PROGRAM, "workload", "export", "summed", "-o", "table.json"});
  const Json table = *records::ParseJson(*base::ReadFile(build() + "/table.json"));
  const Json& buffers = table["cases"][0]["buffers"];
  ASSERT_EQ(buffers.size(), 3u) << table.dump();
  ASSERT_EQ(buffers[0]["pointers"].size(), 2u) << table.dump();
  EXPECT_EQ(table["cases"][0]["arguments"][0]["buffer"], buffers[0]["name"]);
  EXPECT_EQ(table["cases"][0]["arguments"][1]["buffer"], buffers[0]["pointers"][1]["buffer"]);
  EXPECT_TRUE(WaitFor([&] {
    const Json row = Row("summed");
    return row.value("tried", 0) > 0 || row.value("state", "") == "done";
  })) << Row("summed").dump();

  // Candidates are verified on it: the worker finds the contents.
  EXPECT_TRUE(WaitFor([&] {
    const Json row = Row("squares");
    return row.value("tried", 0) > 0 || row.value("state", "") == "done";
  }));
  const Json row = Row("squares");
  EXPECT_GT(row.value("tried", 0), 0) << row.dump();
  EXPECT_TRUE(row["program_us"].is_number());
  // The original was run on it before, and did what it had done in the program.
  const Json replayed = Ask({"workload", "show", "squares"});
  EXPECT_EQ(replayed["replays"].size(), replayed["workload"]["cases"].size()) << replayed.dump();
  for (const auto& [name, replay] : replayed["replays"].items()) {
    EXPECT_EQ(replay["reason"], "") << name;
    EXPECT_EQ(replay["times"], 100) << name;
  }

  Succeed({CUPILOT_PROGRAM, "workload", "drop", "squares"});
  EXPECT_EQ(Ask({"workload", "list"})["workloads"].size(), 4u);
  EXPECT_TRUE(WaitFor([&] { return Row("squares").value("state", "") == "no workload"; }));
}

TEST_F(CaptureTest, BeforeTheFirstTagItShowsWhatIsWorthOne) {
  const std::string path = xdg_.folder() / "source/main.cu";
  std::string text = *base::ReadFile(path);
  for (std::size_t at = text.find("// cupilot:"); at != std::string::npos;
       at = text.find("// cupilot:", at)) {
    text.replace(at, 11, "// nothing:");
  }
  xdg_.folder().Write("source/main.cu", text);
  Succeed({"cmake", "--build", build()});
  const std::string said = Succeed({CUPILOT_PROGRAM, "capture", "--", "./app"});
  EXPECT_THAT(said, HasSubstr("no kernel has a tag yet"));
  const Json list = Ask({"list", "--untagged"});
  EXPECT_GT(list["untagged"].size(), 4u) << list.dump();
  EXPECT_THAT(list["untagged"].dump(), HasSubstr("squares"));
}

TEST_F(CaptureTest, WhatCannotBeCapturedIsAnErrorThatSaysWhatToDo) {
  const auto none = Run({CUPILOT_PROGRAM, "capture", "--", "./no_such_program"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("./no_such_program: cannot be started"));
  const auto silent = Run({CUPILOT_PROGRAM, "capture", "--", "true"});
  EXPECT_EQ(silent.exit_code, 1);
  EXPECT_THAT(silent.errors, HasSubstr("made no launch that could be seen"));
  const auto unknown = Run({CUPILOT_PROGRAM, "capture", "--kernel", "nothing", "--", "./app"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("no tagged kernel 'nothing' is known here"));
  const auto size = Run({CUPILOT_PROGRAM, "capture", "--max-size", "lots", "--", "./app"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.errors, HasSubstr("'lots' is no size"));
}

}  // namespace
}  // namespace cupilot
