// What each test of many days has: a machine, projects, and a daemon whose lives go by as the clock
// does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "log/log.h"
#include "tests/daemon/service/thirty_days/chance.h"
#include "tests/daemon/service/thirty_days/daemon_lives.h"
#include "tests/daemon/service/thirty_days/users_project.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {

using records::Json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

inline constexpr int kStoreDays = 8;  // so long evidence is kept that nothing uses

inline std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class SimulatedDays : public ::testing::Test {
 protected:
  SimulatedDays()
      : chance_(FromEnvironment("CUPILOT_TEST_SEED", 20261124)),
        machine_(clock_, folder_.Write("artifact", "")),
        lives_(machine_, clock_, folder_ / "state", MakeSettings(),
               [this](cache::Store& store, const std::vector<cache::Write>& writes) {
                 KeepBook(store, writes);
               }) {
    const char* level = std::getenv("CUPILOT_TEST_LOG");
    (void)log::Configure({level != nullptr ? log::Level::kInfo : log::Level::kOff, false,
                          level ? level : "", 1 << 28, 1});
    machine_.gpus["cuda:0"].name = "NVIDIA H200";
    machine_.gpus["cuda:1"].name = "NVIDIA H100 PCIe";
    machine_.gpus["cuda:1"].present = false;
    machine_.crashes = [this] { return chance_.OneIn(crash_one_in_); };
    for (const char* name : {"fluid", "image", "host", "solver"}) {
      projects_.push_back(std::make_unique<UsersProject>(folder_ / name, name, name[0] == 'h'));
      Configure(*projects_.back());
    }
  }

  static Settings MakeSettings() {
    Settings settings;
    settings.store_days = kStoreDays;
    settings.seconds_per_kernel = 600;
    return settings;
  }

  void Configure(UsersProject& user) {
    user.project.WriteSource(user.Text());
    user.project.Configure();
    user.project.Register(folder_ / "state");
    user.project.Compile();
    user.there = true;
  }

  // All that is ready at this moment. A process that died is started again by whoever needs it.
  void Turn() {
    for (int quiet = 0; quiet < 2; ++quiet) {
      lives_.loop().RunOnce(false);
      if (machine_.FinishDue()) quiet = 0;
      const auto timer = lives_.loop().NextTimer();
      if (timer && *timer <= clock_.Now()) {
        lives_.loop().RunTimers();
        quiet = 0;
      }
      if (lives_.fate.dead) {
        ++kills_;
        lives_.EndByKill();
        lives_.Begin();
        quiet = 0;
      }
    }
  }
  // Lets time pass. Where nothing but looking around is under way, timers go off late.
  void Until(nanoseconds when) {
    while (true) {
      Turn();
      WatchProgress();
      if (clock_.Now() >= when) return;
      nanoseconds next = when;
      if (const auto timer = lives_.loop().NextTimer()) next = std::min(next, *timer);
      if (const auto end = machine_.Next()) next = std::min(next, *end);
      if (!machine_.works()) next = std::max(next, clock_.Now() + seconds(5));
      clock_.Advance(std::max(std::min(next, when) - clock_.Now(), nanoseconds(0)));
    }
  }
  void For(nanoseconds time) { Until(clock_.Now() + time); }

  // What the store is about to acknowledge.
  virtual void KeepBook(cache::Store& store, const std::vector<cache::Write>& writes) = 0;
  // Looks around after each step of time.
  virtual void WatchProgress() = 0;

  test::TemporaryFolder folder_;
  test::Chance chance_;
  test::MachineClock clock_;
  test::Machine machine_;
  std::vector<std::unique_ptr<UsersProject>> projects_;
  DaemonLives lives_;
  std::uint64_t crash_one_in_ = 150;
  int kills_ = 0;
};

}  // namespace cupilot::service
