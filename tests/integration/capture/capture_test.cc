// `cupilot capture` with everything real, on the host device: a project whose kernels say no
// workload is built, its program run once, and the daemon tunes on what was seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "loop/zmq_client.h"
#include "records/json.h"
#include "tests/support/prefix.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot {
namespace {

using records::Json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class CaptureTest : public ::testing::Test {
 protected:
  CaptureTest() {
    options_.environment = xdg_.Environment();
    for (const char* name : {"CI", "CUPILOT", "CUDACXX", "CUDAFLAGS", "CUPILOT_NO_SPAWN"}) {
      options_.environment[name] = "";
    }
    options_.environment["TMPDIR"] = xdg_.folder() / "tmp";
    std::filesystem::create_directories(xdg_.folder() / "tmp");
    xdg_.folder().Write("config/cupilot/config.json",
                        R"({"seconds_per_kernel": 20, "measure_seconds": 0.2})");
    std::filesystem::copy(CUPILOT_TEST_PROJECT, xdg_.folder() / "source");
    const std::string prefix = xdg_.folder() / "prefix";
    test::MakePrefix(prefix);
    Succeed({"cmake", "-S", xdg_.folder() / "source", "-B", build(), "-G", "Ninja",
             "-DCMAKE_PREFIX_PATH=" + prefix});
    Succeed({"cmake", "--build", build()});
    options_.folder = build();
  }
  ~CaptureTest() override { (void)Run({CUPILOT_PROGRAM, "daemon", "stop"}); }

  std::string build() const { return xdg_.folder() / "build"; }
  test::ProgramRun Run(const std::vector<std::string>& words) {
    return test::RunProgram(words, options_);
  }
  std::string Succeed(const std::vector<std::string>& words) {
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 0) << words[0] << " " << words[1] << "\n" << run.output << run.errors;
    return run.output;
  }
  Json Ask(std::vector<std::string> words) {
    words.insert(words.begin(), {CUPILOT_PROGRAM, "--json"});
    const auto json = records::ParseJson(Succeed(words));
    EXPECT_TRUE(json);
    return json ? *json : Json::object();
  }
  Json Row(const std::string& kernel) {
    const Json list = Ask({"list"});
    for (const Json& row : list["kernels"]) {
      if (row["kernel"] == kernel) return row;
    }
    return Json::object();
  }

  // Looks after each event of the daemon, until `holds` does.
  template <class Predicate>
  bool WaitFor(Predicate holds) {
    auto client = loop::ZmqClient::Connect(xdg_.socket());
    if (!client) return false;
    const Json hello = {{"hello", {{"protocol", {1, 1}}, {"version", CUPILOT_VERSION}}}};
    (void)(*client)->Send(hello.dump());
    (void)(*client)->Receive(seconds(60));
    (void)(*client)->Send(R"({"id": 1, "verb": "subscribe", "params": {}})");
    const auto until = std::chrono::steady_clock::now() + seconds(300);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      (void)(*client)->Receive(seconds(5));
    }
    return true;
  }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
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
  ASSERT_EQ((*captured)["kernels"].size(), 4u) << run.output;
  EXPECT_THAT((*captured)["problems"].dump(),
              HasSubstr("batched: no launch was recorded; argument 1 leads to pointers in memory"));

  const Json list = Ask({"workload", "list"});
  ASSERT_EQ(list["workloads"].size(), 4u) << list.dump();
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
  EXPECT_EQ(Ask({"workload", "list"})["workloads"].size(), 3u);
  EXPECT_TRUE(WaitFor([&] { return Row("squares").value("state", "") == "no workload"; }));
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
