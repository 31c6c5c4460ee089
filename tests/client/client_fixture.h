// Runs the real cupilot with folders of its own, against a fake daemon or none.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "records/json.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot::client {

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : daemon_(xdg_.socket(), CUPILOT_VERSION) {
    environment_ = xdg_.Environment();
    environment_["CUPILOT_NO_SPAWN"] = "1";
  }

  test::ProgramRun Run(std::vector<std::string> words) {
    words.insert(words.begin(), CUPILOT_PROGRAM);
    test::RunOptions options;
    options.environment = environment_;
    options.folder = xdg_.folder().path();
    return test::RunProgram(words, options);
  }

  // With --json: exactly one document, with a schema.
  records::Json RunJson(std::vector<std::string> words, int exit_code) {
    words.push_back("--json");
    const test::ProgramRun run = Run(std::move(words));
    EXPECT_EQ(run.exit_code, exit_code) << run.output << run.errors;
    const auto json = records::ParseJson(run.output);
    EXPECT_TRUE(json) << run.output;
    if (!json) return records::Json::object();
    EXPECT_TRUE(json->contains("schema")) << run.output;
    return *json;
  }

  // The daemon answers the verb with this document.
  void Serve(const std::string& verb, records::Json document) {
    daemon_.On(verb, [document = std::move(document)](const records::Json&) { return document; });
    ASSERT_TRUE(daemon_.Start());
  }
  void Refuse(const std::string& verb, base::Error error) {
    daemon_.On(verb,
               [error = std::move(error)](const records::Json&) -> base::Result<records::Json> {
                 return base::Fail(error);
               });
    ASSERT_TRUE(daemon_.Start());
  }

  test::PrivateXdg xdg_;
  std::map<std::string, std::string> environment_;
  test::FakeDaemon daemon_;
};

}  // namespace cupilot::client
