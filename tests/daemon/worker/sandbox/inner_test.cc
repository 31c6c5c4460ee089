// Workers that parse and compile, asked for what they must not do.
#include <gmock/gmock.h>
#include <seccomp.h>

#include <cerrno>
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
  // `kind`: and what else is said on the command line.
  static Json Ask(const std::string& kind, const std::vector<Json>& requests,
                  const std::map<std::string, std::string>& environment = {}) {
    std::string input;
    for (const Json& request : requests) input += request.dump() + "\n";
    test::RunOptions options;
    options.environment = environment;
    const test::TemporaryFolder folder;
    const std::string file = folder.Write("requests", input);
    const std::string worker = base::LibexecFolder() + "/cupilot-worker";
    const auto run = test::RunProgram(
        {"/bin/sh", "-c", "exec \"$0\" --kind " + kind + " < \"$1\"", worker, file}, options);
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
// By a name, or by the assembler; from inside of a kernel nobody gets that far on the host device.
TEST_F(InnerWorker, CompilersDoNotReadWhatTheyAreToldTo) {
  const auto included = [](const std::string& file) {
    return "#include \"" + file + "\"\n" + kKernel;
  };
  const auto assembled = [](const std::string& file) {
    return "asm(\".incbin \\\"" + file + "\\\"\");\n" + kKernel;
  };
  const auto in_kernel = [](const std::string& file) {
    return "__global__ void k(float* x) { asm volatile(\".incbin \\\"" + file +
           "\\\"\"); x[threadIdx.x] = 1; }\n";
  };
  const std::string secret = folder_.Write("secret.h", "#error the text of a secret\n");
  for (const std::string& file : {std::string("/etc/passwd"), secret}) {
    for (const std::string& text : {included(file), assembled(file), in_kernel(file)}) {
      const Json replies = Ask("build", {BuildRequest(text)});
      ASSERT_EQ(replies.size(), 1u);
      EXPECT_TRUE(replies[0]["result"].value("failed", false)) << text << replies;
      EXPECT_THAT(replies.dump(), Not(HasSubstr("root:"))) << text;
      EXPECT_THAT(replies.dump(), Not(HasSubstr("the text of a secret"))) << text;
    }
  }
  // What may be read is: it is the file that matters, not how it is asked for.
  const std::string harmless = base::HostToolkitFolder() + "/bin/nvcc";
  const Json replies = Ask("build", {BuildRequest(assembled(harmless))});
  EXPECT_FALSE(replies[0]["result"].value("failed", true)) << replies;
}

// A plugin is code of others in the compiler's process: what it does when it is loaded is told by a
// file in the only folder that it may write.
class PluginOfACompiler : public InnerWorker {
 protected:
  void SetUp() override {
    InnerWorker::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directories(folder_ / "artifacts");
    folder_.Write("secret", "text");
    const std::string source = folder_.Write("plugin.cc", R"(
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
static int Tried(int result) { return result >= 0 ? 0 : errno; }
__attribute__((constructor)) static void Try() {
  FILE* report = fopen(FOLDER "/artifacts/report", "w");
  if (report == nullptr) return;
  rlimit tasks, files;
  getrlimit(RLIMIT_NPROC, &tasks);
  getrlimit(RLIMIT_FSIZE, &files);
  signal(SIGXFSZ, SIG_IGN);
  const int large = open(FOLDER "/artifacts/large", O_CREAT | O_WRONLY, 0600);
  fprintf(report, "{\"passwd\": %d, \"secret\": %d, \"write\": %d, \"socket\": %d, ",
          Tried(open("/etc/passwd", O_RDONLY)), Tried(open(FOLDER "/secret", O_RDONLY)),
          Tried(open(FOLDER "/new", O_CREAT | O_WRONLY, 0600)),
          Tried(socket(AF_INET, SOCK_STREAM, 0)));
  fprintf(report, "\"large\": %d, \"file_bytes\": %llu, \"tasks\": %llu}\n",
          Tried(ftruncate(large, 1ll << 40)), (unsigned long long)files.rlim_cur,
          (unsigned long long)tasks.rlim_cur);
  fclose(report);
  unlink(FOLDER "/artifacts/large");
}
)");
    const auto built =
        test::RunProgram({"c++", "-shared", "-fPIC", "-DFOLDER=\"" + folder_.path() + "\"", source,
                          "-o", folder_ / "artifacts/plugin.so"});
    ASSERT_EQ(built.exit_code, 0) << built.errors;
    std::filesystem::copy_file(folder_ / "artifacts/plugin.so", folder_ / "plugin.so");
  }
  Json Build(const std::string& plugin) const {
    Json request = BuildRequest(kKernel);
    Json& words = request["params"]["command"]["arguments"];
    words.insert(words.begin() + 1, {"-Xcompiler", "-fplugin=" + plugin});
    return Ask("build", {request});
  }
};

TEST_F(PluginOfACompiler, IsNotFoundWhereCompilersMayNotRead) {
  const Json replies = Build(folder_ / "plugin.so");
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_TRUE(replies[0]["result"].value("failed", false)) << replies;
  EXPECT_FALSE(base::FileExists(folder_ / "artifacts/report"));
}
TEST_F(PluginOfACompiler, ReachesNothingThatCompilersMayNot) {
  Build(folder_ / "artifacts/plugin.so");
  const auto text = base::ReadFile(folder_ / "artifacts/report");
  ASSERT_TRUE(text) << "it was not loaded: " << text.error().message;
  const auto report = records::ParseJson(*text);
  ASSERT_TRUE(report) << *text;
  for (const char* denied : {"passwd", "secret", "write", "socket"}) {
    EXPECT_NE(report->at(denied), 0) << denied << ": " << *text;
  }
  EXPECT_FALSE(base::FileExists(folder_ / "new"));
  EXPECT_EQ(report->at("large"), EFBIG) << *text;
  EXPECT_LE(report->at("file_bytes").get<std::uint64_t>(), std::uint64_t{4} << 30);
  // Processes and threads, of all that the user has.
  EXPECT_LE(report->at("tasks").get<std::uint64_t>(), 100000u);
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
TEST_F(InnerWorker, WhereThereIsProtectionARequiredSandboxWorks) {
  const std::map<std::string, std::string> required = {{"CUPILOT_REQUIRE_SANDBOX", "1"}};
  const std::string source = folder_.Write("a.cu", std::string("// cupilot: tune\n") + kKernel);
  for (const auto& [kind, request] :
       {std::pair{"build", BuildRequest(kKernel)}, std::pair{"source", ScanRequest(source)}}) {
    const Json replies = Ask(kind, {request}, required);
    ASSERT_EQ(replies.size(), 1u) << kind;
    EXPECT_TRUE(replies[0].contains("result")) << replies;
  }
}

// As on a system without Landlock, and without bubblewrap on the path.
class UnprotectedWorker : public InnerWorker {
 protected:
  void SetUp() override {}

  enum class Answer { kGoesOn, kRefuses, kNothing };
  Answer AskUnprotected(const std::string& kind, const Json& request, const char* required) const {
    const int code = test::InChild(
        [] {
          ::setenv("PATH", "/nowhere", 1);
          scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
          return ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
                                    SCMP_SYS(landlock_create_ruleset), 0) == 0 &&
                 ::seccomp_load(filter) == 0;
        },
        [&] {
          const Json replies = Ask(kind, {request}, {{"CUPILOT_REQUIRE_SANDBOX", required}});
          if (replies.size() != 1 || !replies[0].is_object()) return 2;
          const bool refused = replies[0].dump().find("require_sandbox") != std::string::npos;
          return refused && replies[0].contains("error") ? 1 : 0;
        });
    EXPECT_THAT(code, ::testing::AnyOf(0, 1)) << kind;
    return code == 0 ? Answer::kGoesOn : code == 1 ? Answer::kRefuses : Answer::kNothing;
  }
  void ExpectRefusedWhereRequired(const std::string& kind, const Json& request) const {
    EXPECT_EQ(AskUnprotected(kind, request, "1"), Answer::kRefuses) << kind;
    EXPECT_EQ(AskUnprotected(kind, request, ""), Answer::kGoesOn) << kind;
    EXPECT_EQ(AskUnprotected(kind, request, "0"), Answer::kGoesOn) << kind;
  }
};

TEST_F(UnprotectedWorker, DoesNotBuildWhereASandboxIsRequired) {
  ExpectRefusedWhereRequired("build", BuildRequest(kKernel));
}
TEST_F(UnprotectedWorker, DoesNotParseWhereASandboxIsRequired) {
  ExpectRefusedWhereRequired(
      "source", ScanRequest(folder_.Write("a.cu", std::string("// cupilot: tune\n") + kKernel)));
}
TEST_F(UnprotectedWorker, DoesNotRunWhereASandboxIsRequired) {
  ExpectRefusedWhereRequired("run --access '" + ToJson(SystemAccess()).dump() + "'",
                             {{"op", "load"}, {"device", "host"}, {"modules", Json::array()}});
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
// A later build puts another file in the place of the object, which the process has to see as well.
TEST_F(AccessOfRequests, WhoComparesAnObjectNeedsItsFolder) {
  Json request = BuildRequest(kKernel);
  request["params"]["object"] = folder_ / "build/app.dir/a.o";
  const Access access = AccessOf("build", request);
  EXPECT_TRUE(Covers(access, {{folder_ / "build/app.dir"}, {}, false}));
  EXPECT_FALSE(Covers(access, {{folder_ / "build"}, {}, false}));
}
TEST_F(AccessOfRequests, OneAfterTheOtherEachHasItsOwn) {
  RecentAccess accesses("build");
  const Json first = BuildRequest(kKernel);
  Json other = first;
  other["params"]["cache_folder"] = folder_ / "others";
  ASSERT_FALSE(AccessOf("build", other) == AccessOf("build", first));
  for (const Json& request : {first, first, other, first, Json()}) {
    EXPECT_EQ(accesses.Of(request), AccessOf("build", request)) << request.dump();
  }
}
TEST_F(AccessOfRequests, WhatIsNoRequestNeedsNothing) {
  EXPECT_EQ(AccessOf("source", Json()), SystemAccess());
  EXPECT_EQ(AccessOf("build", Json{{"op", "build"}, {"params", "text"}}), SystemAccess());
}

}  // namespace
}  // namespace cupilot::worker
