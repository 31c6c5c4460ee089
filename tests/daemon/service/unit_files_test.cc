// The units that systemd is given, as systemd itself reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "tests/support/run_program.h"

namespace cupilot::service {
namespace {

const std::string kUnits = CUPILOT_TEST_BINARY_DIR "/lib/systemd/user";

std::string Verify(const std::string& unit) {
  const auto run =
      test::RunProgram({"systemd-analyze", "--user", "verify", kUnits + "/" + unit}, {});
  return run.errors + run.output;
}

TEST(UnitFiles, SystemdFindsNothingWrong) {
  if (test::RunProgram({"systemd-analyze", "--version"}).exit_code != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed";
  }
  // Of other units of this machine it may say something, too.
  for (const char* unit : {"cupilot.service", "cupilot.socket"}) {
    EXPECT_THAT(Verify(unit), ::testing::Not(::testing::HasSubstr("cupilot"))) << unit;
  }
}

TEST(UnitFiles, TheSocketIsWhereClientsLookAndClosedToOthers) {
  const std::string text = base::ReadFile(kUnits + "/cupilot.socket").value_or("");
  for (const char* line :
       {"ListenStream=%t/cupilot/daemon.sock", "SocketMode=0600", "DirectoryMode=0700"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  }
}

}  // namespace
}  // namespace cupilot::service
