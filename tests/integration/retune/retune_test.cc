// A user's day with everything real: a CMake project is configured and built, the daemon that the
// configuration started tunes its kernel, the kernel is edited, and the daemon tunes it again
// without being asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

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

class RetuneTest : public ::testing::Test {
 protected:
  RetuneTest() {
    options_.environment = xdg_.Environment();
    for (const char* name : {"CI", "CUPILOT", "CUDACXX", "CUDAFLAGS", "CUPILOT_NO_SPAWN"}) {
      options_.environment[name] = "";
    }
    options_.environment["TMPDIR"] = xdg_.folder() / "tmp";
    std::filesystem::create_directories(xdg_.folder() / "tmp");
    xdg_.folder().Write("config/cupilot/config.json",
                        R"({"seconds_per_kernel": 20, "measure_seconds": 0.3})");
    std::filesystem::copy(CUPILOT_TEST_PROJECT, xdg_.folder() / "source");
    test::MakePrefix(prefix());
  }
  ~RetuneTest() override { Run({CUPILOT_PROGRAM, "daemon", "stop"}); }

  test::ProgramRun Run(const std::vector<std::string>& words) {
    return test::RunProgram(words, options_);
  }
  std::string build() const { return xdg_.folder() / "build"; }

  std::string prefix() const { return xdg_.folder() / "prefix"; }

  void Configure() {
    const auto run = Run({"cmake", "-S", xdg_.folder() / "source", "-B", build(), "-G", "Ninja",
                          "-DCMAKE_PREFIX_PATH=" + prefix()});
    ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  }
  void Build() {
    const auto run = Run({"cmake", "--build", build()});
    ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
    EXPECT_EQ(Run({build() + "/waves"}).exit_code, 0);
  }

  Json Ask(const std::string& command) {
    options_.folder = build();
    std::vector<std::string> words = {CUPILOT_PROGRAM, command};
    if (command == "explain") words.emplace_back("damp");
    words.emplace_back("--json");
    const auto run = Run(words);
    const auto json = records::ParseJson(run.output);
    return run.exit_code == 0 && json ? *json : Json::object();
  }

  // The daemon's events from now on.
  void Subscribe() {
    // Starts the daemon if the configuration has not yet.
    ASSERT_EQ(Ask("status").value("schema", ""), "cupilot.status/1");
    auto client = loop::ZmqClient::Connect(xdg_.socket());
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
    const Json hello = {{"hello", {{"protocol", {1, 1}}, {"version", CUPILOT_VERSION}}}};
    ASSERT_TRUE(client_->Send(hello.dump()));
    ASSERT_TRUE(client_->Receive(seconds(60)));
    ASSERT_TRUE(client_->Send(R"({"id": 1, "verb": "subscribe", "params": {}})"));
    ASSERT_TRUE(client_->Receive(seconds(60)));
  }

  // Looks after each event, until `holds` does. False after a generous time.
  template <class Predicate>
  bool WaitFor(Predicate holds) {
    const auto until = std::chrono::steady_clock::now() + seconds(300);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      // Nothing may be said any more when the last thing has happened: asked again then.
      (void)client_->Receive(seconds(5));
    }
    return true;
  }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
  std::unique_ptr<loop::ZmqClient> client_;
};

TEST_F(RetuneTest, AnEditedKernelIsTunedAgainUnasked) {
  ASSERT_NO_FATAL_FAILURE(Configure());
  ASSERT_NO_FATAL_FAILURE(Build());
  ASSERT_NO_FATAL_FAILURE(Subscribe());
  Json first;
  EXPECT_TRUE(WaitFor([&] {
    first = Ask("explain");
    return first.value("state", "") == "done";
  })) << first.dump(1)
      << Ask("status").dump(1);
  ASSERT_GT(first.value("tried", Json::array()).size(), 0u) << first.dump(1);
  EXPECT_EQ(first.value("kernel", ""), "waves::damp");
  EXPECT_EQ(Ask("status").value("idle_reason", ""), "done");

  // A report says the same, with the kernel as it is written.
  const Json report = Ask("report");
  ASSERT_EQ(report.value("kernels", Json::array()).size(), 1u) << report.dump(1);
  const Json& reported = report["kernels"][0];
  EXPECT_EQ(reported["kernel_key"], first["kernel_key"]);
  EXPECT_EQ(reported["winners"].size(), first["variants"].size());
  EXPECT_FALSE(reported["evaluations"].empty());
  EXPECT_EQ(reported["original"]["as_written"], true) << reported["original"].dump(1);
  EXPECT_THAT(reported["original"]["text"].get<std::string>(),
              ::testing::StartsWith("__global__ void damp("));
  EXPECT_EQ(reported["roofline"].empty(), !reported["no_roofline"].get<std::string>().empty());

  const std::string path = xdg_.folder() / "source/main.cu";
  std::string text = base::ReadFile(path).value();
  const std::string old_line = "next[i] = now[i] - decay * next[i];";
  const std::size_t at = text.find(old_line);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, old_line.size(), "next[i] = now[i] - decay * (next[i] - 1.0f);");
  std::ofstream(path) << text;

  Json second;
  EXPECT_TRUE(WaitFor([&] {
    second = Ask("explain");
    return second.value("state", "") == "done" &&
           second.value("kernel_key", "") != first.value("kernel_key", "");
  })) << second.dump(1)
      << Ask("status").dump(1);
  EXPECT_GT(second.value("tried", Json::array()).size(), 0u) << second.dump(1);
  // What the build takes, if anything won, is of the new kernel.
  ASSERT_NO_FATAL_FAILURE(Build());
}

}  // namespace
}  // namespace cupilot
