// Workers that parse and compile, asked for what they must not do.
#include <gmock/gmock.h>
#include <seccomp.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/install_layout.h"
#include "records/compile_command.h"
#include "tests/daemon/worker/sandbox/confined_child.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/landlock.h"
#include "worker/sandbox/request_access.h"

namespace cupilot::worker {
namespace {

using records::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class InnerWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    if (LandlockVersion() == 0 && Bubblewrap().empty()) {
      GTEST_SKIP() << "neither Landlock nor bubblewrap works here";
    }
  }
  records::CompileCommand CommandFor(const std::string& source) const {
    records::CompileCommand command;
    command.source = source;
    command.directory = folder_ / "build";
    command.object = folder_ / "build/a.o";
    command.folder = folder_ / "build/cupilot";
    command.arguments = {base::HostToolkitFolder() + "/bin/nvcc", "-std=c++17", "-c", source};
    return command;
  }
  static Json Ask(const char* kind, const std::vector<Json>& requests,
                  const std::map<std::string, std::string>& environment = {}) {
    std::string input;
    for (const Json& request : requests) input += request.dump() + "\n";
    test::RunOptions options;
    options.environment = environment;
    const test::TemporaryFolder folder;
    const std::string file = folder.Write("requests", input);
    const std::string worker = base::LibexecFolder() + "/cupilot-worker";
    const auto run = test::RunProgram(
        {"/bin/sh", "-c", "exec \"$0\" --kind " + std::string(kind) + " < \"$1\"", worker, file},
        options);
    Json replies = Json::array();
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) {
      const auto reply = records::ParseJson(line);
      replies.push_back(reply ? *reply : Json(line));
    }
    return replies;
  }
  Json BuildRequest(const std::string& text) const {
    return {{"id", 1},
            {"op", "build"},
            {"params",
             {{"device", "host"},
              {"target", ""},
              {"text", text},
              {"command", ToJson(CommandFor(folder_ / "a.cu"))},
              {"cache_folder", folder_ / "artifacts"},
              {"timeout_ms", 60000},
              {"as_compiled", false}}}};
  }
  Json ScanRequest(const std::string& source) const {
    return {{"id", 1},
            {"op", "scan"},
            {"params",
             {{"command", ToJson(CommandFor(source))},
              {"source_text", ""},
              {"numerics", "close"},
              {"kernels", Json::array()}}}};
  }
  test::TemporaryFolder folder_;
};

constexpr const char* kKernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n";

TEST_F(InnerWorker, BuildsWhatNeedsNothingElse) {
  const Json replies = Ask("build", {BuildRequest(kKernel)});
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_TRUE(replies[0].contains("result")) << replies;
  EXPECT_FALSE(replies[0]["result"].value("failed", true)) << replies;
}
TEST_F(InnerWorker, CompilersDoNotReadWhatTheyAreToldTo) {
  folder_.Write("secret.h", "#error the text of a secret\n");
  for (const std::string& text :
       {"#include \"/etc/passwd\"\n" + std::string(kKernel),
        "#include \"" + (folder_ / "secret.h") + "\"\n" + kKernel,
        "asm(\".incbin \\\"" + (folder_ / "secret.h") + "\\\"\");\n" + kKernel}) {
    const Json replies = Ask("build", {BuildRequest(text)});
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_TRUE(replies[0]["result"].value("failed", false)) << text << replies;
    EXPECT_THAT(replies.dump(), Not(HasSubstr("root:"))) << text;
    EXPECT_THAT(replies.dump(), Not(HasSubstr("the text of a secret"))) << text;
  }
}
TEST_F(InnerWorker, ParsersReadTheProjectOnly) {
  folder_.Write("project/size.h", "#pragma once\nconstexpr int kSize = 4;\n");
  const std::string good = folder_.Write(
      "project/good.cu", std::string("#include \"size.h\"\n// cupilot: tune\n") + kKernel);
  const std::string bad =
      folder_.Write("project/bad.cu", std::string("#include \"/etc/passwd\"\n") + kKernel);
  const Json replies = Ask("source", {ScanRequest(good), ScanRequest(bad)});
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_TRUE(replies[0].contains("result")) << replies;
  EXPECT_THAT(replies[1].dump(), Not(HasSubstr("root:")));
  EXPECT_THAT(replies[1].dump(), HasSubstr("/etc/passwd")) << "it is said which file is missing";
}
TEST_F(InnerWorker, EachProjectGetsAProcessThatSeesIt) {
  std::vector<Json> requests;
  for (const char* name : {"one", "two", "one"}) {
    const std::string project = name;
    folder_.Write(project + "/size.h", "constexpr int kSize = 4;\n");
    requests.push_back(ScanRequest(folder_.Write(
        project + "/main.cu", std::string("#include \"size.h\"\n// cupilot: tune\n") + kKernel)));
  }
  const Json replies = Ask("source", requests);
  ASSERT_EQ(replies.size(), 3u);
  for (const Json& reply : replies) EXPECT_TRUE(reply.contains("result")) << reply;
}
TEST_F(InnerWorker, WithoutProtectionARequiredSandboxRefuses) {
  const int code = test::InChild(
      [] {
        // As on a system without Landlock, and without bubblewrap on the path.
        ::setenv("PATH", "/nowhere", 1);
        scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
        return ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset),
                                  0) == 0 &&
               ::seccomp_load(filter) == 0;
      },
      [&] {
        const auto refused =
            Ask("build", {BuildRequest(kKernel)}, {{"CUPILOT_REQUIRE_SANDBOX", "1"}});
        const bool says = refused.dump().find("require_sandbox") != std::string::npos &&
                          refused.dump().find("\"error\"") != std::string::npos;
        return says ? 0 : 1;
      });
  EXPECT_EQ(code, 0);
}

class AccessOfRequests : public InnerWorker {
 protected:
  void SetUp() override {}
};

TEST_F(AccessOfRequests, AParserNeedsTheProjectsFolders) {
  folder_.Write("build/CMakeCache.txt",
                "CMAKE_HOME_DIRECTORY:INTERNAL=" + (folder_ / "app") + "\n");
  folder_.Write("elsewhere/real.cu", kKernel);
  std::filesystem::create_directories(folder_ / "app/src");
  std::filesystem::create_symlink(folder_ / "elsewhere/real.cu", folder_ / "app/src/main.cu");
  Json request = ScanRequest(folder_ / "app/src/main.cu");
  request["params"]["command"]["arguments"].push_back("-I" + (folder_ / "third/include"));
  const Access access = AccessOf("source", request);
  for (const char* name : {"app", "build", "elsewhere", "third/include"}) {
    EXPECT_TRUE(Covers(access, {{folder_ / name}, {}, false})) << name;
  }
  EXPECT_FALSE(Covers(access, {{folder_.path()}, {}, false}));
  EXPECT_TRUE(TemporaryFolder(access).empty()) << "it writes nothing";
}
TEST_F(AccessOfRequests, ACompilerNeedsItsFolderOnly) {
  const Access access = AccessOf("build", BuildRequest(kKernel));
  EXPECT_TRUE(Covers(access, {{}, {folder_ / "artifacts"}, false}));
  EXPECT_EQ(TemporaryFolder(access), folder_ / "artifacts/tmp");
  EXPECT_FALSE(Covers(access, {{folder_ / "build"}, {}, false}));
}
TEST_F(AccessOfRequests, WhatIsNoRequestNeedsNothing) {
  EXPECT_EQ(AccessOf("source", Json()), SystemAccess());
  EXPECT_EQ(AccessOf("build", Json{{"op", "build"}, {"params", "text"}}), SystemAccess());
}

}  // namespace
}  // namespace cupilot::worker
