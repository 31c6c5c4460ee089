// A project for the host device, configured and built with everything real, and its daemon.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "loop/zmq_client.h"
#include "records/json.h"
#include "tests/support/prefix.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot {

class BuiltProjectTest : public ::testing::Test {
 protected:
  explicit BuiltProjectTest(const std::string& project) {
    options_.environment = xdg_.Environment();
    for (const char* name : {"CI", "CUPILOT", "CUDACXX", "CUDAFLAGS", "CUPILOT_NO_SPAWN"}) {
      options_.environment[name] = "";
    }
    options_.environment["TMPDIR"] = xdg_.folder() / "tmp";
    std::filesystem::create_directories(xdg_.folder() / "tmp");
    xdg_.folder().Write("config/cupilot/config.json",
                        R"({"seconds_per_kernel": 20, "measure_seconds": 0.2})");
    std::filesystem::copy(project, xdg_.folder() / "source");
    const std::string prefix = xdg_.folder() / "prefix";
    test::MakePrefix(prefix);
    Succeed({"cmake", "-S", xdg_.folder() / "source", "-B", build(), "-G", "Ninja",
             "-DCMAKE_PREFIX_PATH=" + prefix});
    Succeed({"cmake", "--build", build()});
    options_.folder = build();
  }
  ~BuiltProjectTest() override { (void)Run({CUPILOT_PROGRAM, "daemon", "stop"}); }

  std::string build() const { return xdg_.folder() / "build"; }
  test::ProgramRun Run(const std::vector<std::string>& words) {
    return test::RunProgram(words, options_);
  }
  std::string Succeed(const std::vector<std::string>& words) {
    const auto run = Run(words);
    EXPECT_EQ(run.exit_code, 0) << words[0] << " " << words[1] << "\n" << run.output << run.errors;
    return run.output;
  }
  records::Json Ask(std::vector<std::string> words) {
    words.insert(words.begin(), {CUPILOT_PROGRAM, "--json"});
    const auto json = records::ParseJson(Succeed(words));
    EXPECT_TRUE(json);
    return json ? *json : records::Json::object();
  }
  records::Json Row(const std::string& kernel) {
    const records::Json list = Ask({"list"});
    for (const records::Json& row : list["kernels"]) {
      if (row["kernel"] == kernel) return row;
    }
    return records::Json::object();
  }

  // Looks after each event of the daemon, until `holds` does.
  template <class Predicate>
  bool WaitFor(Predicate holds) {
    auto client = loop::ZmqClient::Connect(xdg_.socket());
    if (!client) return false;
    const records::Json hello = {{"hello", {{"protocol", {1, 1}}, {"version", CUPILOT_VERSION}}}};
    (void)(*client)->Send(hello.dump());
    (void)(*client)->Receive(std::chrono::seconds(60));
    (void)(*client)->Send(R"({"id": 1, "verb": "subscribe", "params": {}})");
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      (void)(*client)->Receive(std::chrono::seconds(5));
    }
    return true;
  }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
};

}  // namespace cupilot
