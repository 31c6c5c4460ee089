// Which files a confined process reaches.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>

#include "tests/daemon/worker/sandbox/confined_child.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "worker/sandbox/access.h"
#include "worker/sandbox/bubblewrap.h"
#include "worker/sandbox/landlock.h"

namespace cupilot::worker {
namespace {

using test::InChild;

// 0, or why not.
int Opens(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  return file >= 0 ? 0 : errno;
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("project/main.cu", "text");
    folder_.Write("secret", "text");
    std::filesystem::create_symlink(folder_ / "secret", folder_ / "project/link");
    std::filesystem::create_directory(folder_ / "built");
    access_ = SystemAccess();
    access_.read.push_back(folder_ / "project");
    access_.write.push_back(folder_ / "built");
  }
  int WithLandlock(int (*act)(const Files& files)) const {
    return InChild([&] { return RestrictFiles(access_).has_value(); }, [&] { return act(*this); });
  }
  test::TemporaryFolder folder_;
  Access access_;
};

class Landlock : public Files {
 protected:
  void SetUp() override {
    if (LandlockVersion() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    Files::SetUp();
  }
};

TEST_F(Landlock, WhatIsListedIsReached) {
  EXPECT_EQ(WithLandlock([](const Files&) { return Opens("/usr/bin/env", O_RDONLY); }), 0);
  EXPECT_EQ(InChild([&] { return RestrictFiles(access_).has_value(); },
                    [&] { return Opens(folder_ / "project/main.cu", O_RDONLY); }),
            0);
  EXPECT_EQ(InChild([&] { return RestrictFiles(access_).has_value(); },
                    [&] { return Opens(folder_ / "built/new", O_WRONLY | O_CREAT); }),
            0);
  EXPECT_EQ(WithLandlock([](const Files&) { return Opens("/dev/null", O_RDWR); }), 0);
}
TEST_F(Landlock, NothingElseIs) {
  const auto open = [&](const std::string& path, int flags) {
    return InChild([&] { return RestrictFiles(access_).has_value(); },
                   [&] { return Opens(path, flags); });
  };
  EXPECT_EQ(open(folder_ / "secret", O_RDONLY), EACCES);
  EXPECT_EQ(open(folder_ / "project/link", O_RDONLY), EACCES);
  EXPECT_EQ(open(folder_ / "project/../secret", O_RDONLY), EACCES);
  EXPECT_EQ(open(folder_ / "project/main.cu", O_WRONLY), EACCES);
  EXPECT_EQ(open(folder_ / "project/new", O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(open("/etc/passwd", O_RDONLY), EACCES);
  EXPECT_EQ(open("/proc/" + std::to_string(::getpid()) + "/environ", O_RDONLY), EACCES);
}
TEST_F(Landlock, NoTcpAndNoSignalsToOthers) {
  if (LandlockVersion() < 6) GTEST_SKIP() << "this kernel's Landlock knows files only";
  EXPECT_EQ(WithLandlock([](const Files&) {
              const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
              sockaddr_in address{};
              address.sin_family = AF_INET;
              address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
              address.sin_port = htons(9);
              const auto* to = reinterpret_cast<const sockaddr*>(&address);
              return ::connect(socket, to, sizeof address) == 0 ? 0 : errno;
            }),
            EACCES);
  EXPECT_EQ(WithLandlock([](const Files&) { return ::kill(::getppid(), 0) == 0 ? 0 : errno; }),
            EPERM);
}
TEST_F(Landlock, APathThatIsNotThereNeedsNoRule) {
  access_.read.push_back(folder_ / "nowhere");
  EXPECT_EQ(WithLandlock([](const Files&) { return 0; }), 0);
}

class BubblewrapView : public Files {
 protected:
  void SetUp() override {
    if (Bubblewrap().empty()) GTEST_SKIP() << "bubblewrap does not work here";
    Files::SetUp();
  }
  test::ProgramRun Shell(const std::string& text) const {
    std::vector<std::string> words = BubblewrapWords(Bubblewrap(), access_, "/");
    words.insert(words.end(), {"/bin/sh", "-c", text});
    return test::RunProgram(words);
  }
};

TEST_F(BubblewrapView, ShowsWhatIsListed) {
  EXPECT_EQ(Shell("cat " + (folder_ / "project/main.cu")).output, "text");
  EXPECT_EQ(Shell("echo new > " + (folder_ / "built/new")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "built/new"));
}
TEST_F(BubblewrapView, AndNothingElse) {
  EXPECT_NE(Shell("cat " + (folder_ / "secret")).exit_code, 0);
  EXPECT_NE(Shell("cat " + (folder_ / "project/link")).exit_code, 0);
  EXPECT_NE(Shell("cat /etc/passwd").exit_code, 0);
  EXPECT_NE(Shell("echo new > " + (folder_ / "project/new")).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "project/new"));
}
TEST_F(BubblewrapView, HasNoNetworkAndNoOtherProcesses) {
  EXPECT_EQ(Shell("grep -c : /proc/net/dev").output, "1\n") << "more than the loopback device";
  EXPECT_NE(Shell("kill -0 " + std::to_string(::getpid())).exit_code, 0);
  EXPECT_NE(Shell("test -e /proc/" + std::to_string(::getpid()) + "/exe").exit_code, 0);
}

TEST(Access, KnowsWhatCoversWhat) {
  const Access wide{{"/usr", "/projects/app"}, {"/cache"}, false};
  EXPECT_TRUE(Covers(wide, {{"/usr/include", "/projects/app"}, {"/cache/a"}, false}));
  EXPECT_TRUE(Covers(wide, {{"/cache/a"}, {}, false}));
  EXPECT_FALSE(Covers(wide, {{"/projects/app2"}, {}, false}));
  EXPECT_FALSE(Covers(wide, {{"/projects"}, {}, false}));
  EXPECT_FALSE(Covers(wide, {{}, {"/usr"}, false}));
  EXPECT_FALSE(Covers(wide, {{}, {}, true}));
}
TEST(Access, LeavesOutHomesAndSecrets) {
  const Access access = SystemAccess();
  for (const char* path : {"/etc/passwd", "/etc/ssh", "/root", "/home/ann", "/tmp", "/var/lib",
                           "/run/user/1000", "/"}) {
    EXPECT_FALSE(Covers(access, {{path}, {}, false})) << path;
  }
  EXPECT_FALSE(Covers(access, {{std::string(std::getenv("HOME")) + "/.ssh"}, {}, false}));
  EXPECT_TRUE(Covers(access, {{"/usr/include"}, {}, false}));
}
TEST(Access, ComesBackFromJson) {
  const Access access{{"/usr"}, {"/cache"}, true};
  const auto back = ParseAccess(ToJson(access));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, access);
  EXPECT_FALSE(ParseAccess(records::Json{{"read", "all"}}));
}

}  // namespace
}  // namespace cupilot::worker
