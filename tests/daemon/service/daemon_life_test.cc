// How the real daemon begins and ends: socket activation, making way for another, idle exit, and
// what it says of that.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/file.h"
#include "loop/zmq_client.h"
#include "records/json.h"
#include "service/restart_note.h"
#include "tests/support/private_xdg.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::HasSubstr;

class DaemonLifeTest : public ::testing::Test {
 protected:
  ~DaemonLifeTest() override {
    if (child_ > 0) End();
  }

  // `given` becomes descriptor 3, as systemd hands it over. Its standard error goes to errors().
  void Start(const char* mode, int given = -1, const char* count = "1") {
    // What an earlier one said is not what this one says.
    std::filesystem::remove(errors_file());
    child_ = ::fork();
    if (child_ != 0) return;
    for (const auto& [name, value] : xdg_.Environment()) ::setenv(name.c_str(), value.c_str(), 1);
    const int errors = ::open(errors_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(errors, 2);
    if (given >= 0) {
      ::dup2(given, 3);
      ::fcntl(3, F_SETFD, 0);  // it may have been 3
      ::setenv("LISTEN_FDS", count, 1);
      ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    }
    ::execl(program_.c_str(), program_.c_str(), mode, nullptr);
    ::_exit(127);
  }
  // The exit code; waits.
  int Wait() {
    int status = 0;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int End() {
    ::kill(child_, SIGTERM);
    return Wait();
  }
  std::string errors_file() const { return xdg_.folder() / "errors"; }
  std::string Errors() const { return base::ReadFile(errors_file()).value_or(""); }
  std::string Log() const { return base::ReadFile(xdg_.state() + "/daemon.log").value_or(""); }

  int ListeningSocket(const std::string& path) const {
    const std::string folder = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(file, 16), 0);
    return file;
  }

  // On a connection of its own; waits until somebody listens there.
  Json Ask(const std::string& verb, const Json& params = Json::object()) const {
    auto client = loop::ZmqClient::Connect(xdg_.socket());
    while (!client && child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == 0) {
      client = loop::ZmqClient::Connect(xdg_.socket());
    }
    if (!client) return Json::object();
    EXPECT_TRUE((*client)->Send(Json{{"id", 1}, {"verb", verb}, {"params", params}}.dump()));
    const auto reply = (*client)->Receive(std::chrono::seconds(60));
    EXPECT_TRUE(reply) << verb;
    const auto json = reply ? records::ParseJson(*reply) : base::Result<Json>(Json::object());
    return json && json->contains("result") ? (*json)["result"] : Json(reply.value_or("none"));
  }

  test::PrivateXdg xdg_;
  std::string program_ = CUPILOT_DAEMON;
  pid_t child_ = 0;
};

TEST_F(DaemonLifeTest, AGivenSocketIsServedAndStaysForTheNextOne) {
  const int socket = ListeningSocket(xdg_.socket());
  Start("--foreground", socket);
  EXPECT_EQ(Ask("status")["started_because"], "none ran here before");
  EXPECT_EQ(End(), 0);
  EXPECT_TRUE(base::FileExists(xdg_.socket()));
  Start("--foreground", socket);
  EXPECT_THAT(Ask("status")["started_because"].get<std::string>(), HasSubstr("SIGTERM"));
  // Systemd starts the next version on this code.
  EXPECT_EQ(Ask("hand_over", {{"version", "9.9.9"}})["by_systemd"], true);
  EXPECT_EQ(Wait(), 75);
  ::close(socket);
}

TEST_F(DaemonLifeTest, AGivenSocketElsewhereIsRefusedWithWhatItsUnitNeeds) {
  const int socket = ListeningSocket(xdg_.folder() / "elsewhere");
  Start("--foreground", socket);
  EXPECT_EQ(Wait(), 3);
  EXPECT_THAT(Errors(), HasSubstr("ListenStream=" + xdg_.socket()));
  Start("--foreground", socket, "2");
  EXPECT_EQ(Wait(), 3);
  EXPECT_THAT(Errors(), HasSubstr("not one, but 2"));
  ::close(socket);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Start("--foreground", file);
  EXPECT_EQ(Wait(), 3);
  EXPECT_THAT(Errors(), HasSubstr("LISTEN_FDS"));
  ::close(file);
}

TEST_F(DaemonLifeTest, OneThatSystemdStartsTakesThePlaceOfOneThatLostItsSocket) {
  Start("--foreground");
  (void)Ask("ping");
  const pid_t first = std::exchange(child_, 0);
  ::unlink(xdg_.socket().c_str());
  const int socket = ListeningSocket(xdg_.socket());
  Start("--foreground", socket);
  EXPECT_THAT(Ask("status")["started_because"].get<std::string>(), HasSubstr("SIGTERM"));
  int status = 0;
  EXPECT_EQ(::waitpid(first, &status, 0), first);
  EXPECT_EQ(status, 0);
  ::close(socket);
}

TEST_F(DaemonLifeTest, ItMakesWayForANewerOneThatWaits) {
  Start("--foreground");
  (void)Ask("ping");
  const pid_t older = std::exchange(child_, 0);
  EXPECT_EQ(Ask("hand_over", {{"version", "9.9.9"}})["by_systemd"], false);
  Start("--take-over");  // ends when what it has detached serves
  EXPECT_EQ(Wait(), 0) << Errors();
  int status = 0;
  EXPECT_EQ(::waitpid(older, &status, 0), older);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Ask("status")["started_because"].get<std::string>(),
              HasSubstr("it makes way for version 9.9.9"));
  EXPECT_THAT(Log(), HasSubstr("it makes way for version 9.9.9"));
  (void)Ask("stop");
}

TEST_F(DaemonLifeTest, OneThatAConfigureStartsAsksAnOlderOneToMakeWay) {
  Start("--foreground");
  (void)Ask("ping");
  const pid_t older = std::exchange(child_, 0);
  // As an older version would have noted it.
  const std::string lock = xdg_.state() + "/daemon.lock";
  std::ofstream(lock) << RunningNote(older, "0.0.1", "2026-11-23T08:00:00Z");
  Start("--foreground");
  int status = 0;
  EXPECT_EQ(::waitpid(older, &status, 0), older);
  EXPECT_EQ(status, 0);
  while (Errors().find("ready") == std::string::npos) {
    ASSERT_EQ(::waitpid(child_, nullptr, WNOHANG), 0);
  }
  EXPECT_THAT(Ask("status")["started_because"].get<std::string>(), HasSubstr("makes way"));
  // One of the same version stays.
  const pid_t stays = std::exchange(child_, 0);
  Start("--foreground");
  EXPECT_EQ(Wait(), 3);
  EXPECT_EQ(::waitpid(stays, nullptr, WNOHANG), 0);
  child_ = stays;
}

TEST_F(DaemonLifeTest, AnUpgradeOfItsProgramStartsTheNewOne) {
  namespace fs = std::filesystem;
  const std::string program = xdg_.folder() / "cupilotd";
  fs::copy_file(CUPILOT_DAEMON, program);
  program_ = program;
  Start("--foreground");
  (void)Ask("ping");
  fs::copy_file(CUPILOT_DAEMON, program + ".new");
  fs::rename(program + ".new", program);
  (void)Ask("ping");  // by which it sees it
  EXPECT_EQ(Wait(), 0);
  // The new one is nobody's child: it serves as soon as it has the lock.
  Json status = Json::object();
  while (!status.contains("started_because")) {
    if (loop::ZmqClient::Connect(xdg_.socket())) status = Ask("status");
  }
  EXPECT_THAT(status["started_because"].get<std::string>(), HasSubstr("replaced"));
  (void)Ask("stop");
}

TEST_F(DaemonLifeTest, ARequestToMakeWayWithoutAVersionIsRefused) {
  Start("--foreground");
  EXPECT_THAT(Ask("hand_over").get<std::string>(), HasSubstr("version"));
  EXPECT_EQ(Ask("status")["leaving"], false);
}

TEST_F(DaemonLifeTest, WithoutAProjectItEndsByItself) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"idle_exit_minutes": 0.001})");
  Start("--foreground");
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Log(), HasSubstr("nothing was left to do"));
  EXPECT_FALSE(base::FileExists(xdg_.socket()));
}

TEST_F(DaemonLifeTest, WhereTheNextOneCouldNotStartItStays) {
  const std::string settings =
      xdg_.folder().Write("config/cupilot/config.json", R"({"idle_exit_minutes": 0.02})");
  Start("--foreground");
  (void)Ask("ping");
  std::ofstream(settings) << "{broken";
  while (Log().find("the daemon stays") == std::string::npos) {
    ASSERT_EQ(::waitpid(child_, nullptr, WNOHANG), 0) << Log();
  }
  EXPECT_EQ(Ask("ping"), Json::object());
}

TEST_F(DaemonLifeTest, ItGivesWayToTheUsersPrograms) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"io_class": "idle"})");
  Start("--foreground");
  (void)Ask("ping");
  constexpr int kClassShift = 13, kIdleClass = 3;
  EXPECT_EQ(::syscall(SYS_ioprio_get, 1, child_) >> kClassShift, kIdleClass);
  EXPECT_GE(::getpriority(PRIO_PROCESS, static_cast<id_t>(child_)), 5);
}

TEST_F(DaemonLifeTest, AKilledOneIsKnownToHaveBeenKilled) {
  Start("--foreground");
  (void)Ask("ping");
  ::kill(child_, SIGKILL);
  EXPECT_EQ(Wait(), 128 + SIGKILL);
  Start("--foreground");
  // The path of the killed one is there until the new one takes it.
  while (Errors().find("ready") == std::string::npos)
    ASSERT_EQ(::waitpid(child_, nullptr, WNOHANG), 0);
  EXPECT_THAT(Ask("status")["started_because"].get<std::string>(), HasSubstr("killed"));
}

TEST_F(DaemonLifeTest, TheLogIsRotatedAndMayBeJson) {
  xdg_.folder().Write("config/cupilot/config.json",
                      R"({"log_json": true, "log_megabytes": 0.01, "log_files": 2})");
  std::filesystem::create_directories(xdg_.state());
  std::filesystem::permissions(xdg_.state(), std::filesystem::perms::owner_all);
  xdg_.folder().Write("state/cupilot/daemon.log", std::string(20000, 'x') + "\n");
  Start("--foreground");
  (void)Ask("ping");
  EXPECT_EQ(End(), 0);
  EXPECT_TRUE(base::FileExists(xdg_.state() + "/daemon.1.log"));
  const std::string log = Log();
  const auto line = records::ParseJson(log.substr(0, log.find('\n')));
  ASSERT_TRUE(line) << log;
  EXPECT_EQ((*line)["event"], "the daemon starts");
}

}  // namespace
}  // namespace cupilot::service
