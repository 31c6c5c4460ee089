// What happens on each of many days, at random moments.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "service/documents.h"
#include "source/swap/selection_check.h"
#include "tests/daemon/service/thirty_days/judged_days.h"
#include "tests/support/running_build.h"

namespace cupilot::service {

class EventfulDays : public JudgedDays {
 protected:
  void OneEvent() {
    UsersProject& user = *chance_.Of(projects_);
    const auto event = chance_.Below(26);
    const bool deadly = (event >= 14 && event <= 17) || event == 20;
    if (deadly && !mortal_) return;
    switch (event) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Edit(user);
      case 4:
      case 5:
      case 6:
      case 7:
        return Build(user);
      case 8:
      case 9:
        return UseGpu();
      case 10:
      case 11:
        return PlugGpu();
      case 12:
        return Suspend();
      case 13:
        return SetClock();
      case 14:
        return Kill();
      case 15:
      case 16:
        lives_.fate.writes_left = chance_.Between(0, 60);
        return;
      case 17:
        return HandOver();
      case 18:
        return FillDisk();
      case 19:
        return Crashes();
      case 20:
        return Restart();
      case 21:
        return Snooze();
      case 22:
        return Decide(user);
      case 23:
        return Prune();
      case 24:
        return Move(user);
      default:
        return AskAround();
    }
  }

  void Edit(UsersProject& user) {
    if (!user.there) return;
    if (chance_.OneIn(4)) {
      user.around = "something else " + std::to_string(chance_.Below(5));
    } else {
      std::int64_t& body = user.bodies[chance_.Below(user.bodies.size())];
      const bool back = user.newest > 0 && chance_.OneIn(2);
      body = back ? chance_.Between(std::max<std::int64_t>(0, user.newest - 6), user.newest)
                  : ++user.newest;
    }
    if (chance_.OneIn(2)) return user.project.SaveByRename(user.Text());
    user.project.WriteSource(user.Text());
  }
  void Build(UsersProject& user) {
    if (!user.there) return;
    const test::RunningBuild build(user.project.build_folder());
    For(seconds(chance_.Between(1, 200)));
    if (chance_.OneIn(20)) {
      user.project.Compile(true);
      For(seconds(30));
      // What the compile refused is a rule, as soon as it can be written down.
      champions_.clear();
      if (lives_.fate.full) unsure_nights_ = 2;
    } else if (chance_.OneIn(10)) {
      user.project.CompileTurnedOff();
    } else {
      user.project.Compile();
    }
  }
  void UseGpu() {
    test::SimulatedGpu& gpu = AnyGpu();
    if (chance_.OneIn(4)) {
      gpu.power = "suspended";
      Later(minutes(chance_.Between(10, 500)), [&gpu] { gpu.power = "active"; });
    } else {
      gpu.others_load = 80;
      Later(minutes(chance_.Between(1, 300)), [&gpu] { gpu.others_load = 0; });
    }
  }
  void PlugGpu() {
    test::SimulatedGpu& gpu = AnyGpu();
    gpu.present = !gpu.present;
    if (!gpu.present) Later(minutes(chance_.Between(10, 1500)), [&gpu] { gpu.present = true; });
  }
  test::SimulatedGpu& AnyGpu() { return machine_.gpus[chance_.OneIn(2) ? "cuda:0" : "cuda:1"]; }
  void Suspend() {
    const auto time = minutes(chance_.Between(10, 600));
    // Of a virtual machine timers come late, of a notebook they stand.
    if (chance_.OneIn(2)) {
      clock_.Advance(time);
    } else {
      clock_.SetBy(time);
    }
  }
  void SetClock() { clock_.SetBy(minutes(chance_.Between(-300, 120))); }
  void Kill() {
    lives_.fate.Die();
    Turn();
  }
  void Restart() {
    lives_.End();
    lives_.Begin();
  }
  void HandOver() {
    EXPECT_TRUE(lives_.Ask("hand_over", {{"version", "99.0"}}).contains("result"));
    const int kills = kills_;
    for (int tenth = 0; tenth < 10 && kills == kills_ && !lives_.left(); ++tenth) For(seconds(6));
    Restart();
  }
  void FillDisk() {
    lives_.fate.full = true;
    Later(minutes(chance_.Between(1, 400)), [this] { lives_.fate.full = false; });
  }
  void Crashes() {
    crash_one_in_ = 3;
    For(minutes(chance_.Between(1, 30)));
    crash_one_in_ = 150;
  }
  void Snooze() {
    lives_.Ask("snooze", {{"seconds", chance_.Between(60, 3600)}});
    if (!chance_.OneIn(2)) return;
    For(minutes(5));
    lives_.Ask("resume", Json::object());
  }
  // Seldom: what is rejected stays so.
  void Decide(UsersProject& user) {
    const auto published = user.project.PublishedVariants();
    if (published.empty() || !chance_.OneIn(3)) return;
    if (!lives_.Ask("reject", {{"what", chance_.Of(published)}}).contains("result")) return;
    champions_.clear();
  }
  void Prune() {
    const double older = 86400.0 * static_cast<double>(chance_.Between(3, 6));
    prune_before_ = lives_.service().DateBefore(older);
    lives_.Ask("prune", {{"older_seconds", older}, {"dry_run", chance_.OneIn(2)}});
    prune_before_.clear();
  }
  // The build folder is deleted; some time later it is configured again.
  void Move(UsersProject& user) {
    if (!user.there) return;
    std::filesystem::remove_all(user.project.build_folder());
    user.there = false;
    Later(minutes(chance_.Between(1, 400)), [this, &user] { Configure(user); });
  }
  void AskAround() {
    for (const char* verb :
         {"status", "list", "ping", "models", "strategies_list", "workload_list"}) {
      EXPECT_TRUE(lives_.Ask(verb, Json::object()).contains("result")) << verb;
    }
    const Json list = lives_.Ask("list", Json::object())["result"];
    for (const Json& row : list["kernels"]) {
      for (const char* verb : {"explain", "history", "best", "diff"}) {
        (void)lives_.Ask(verb, {{"kernel", row["kernel"]}});
      }
    }
    (void)lives_.Ask("report", Json::object());
    (void)lives_.Ask("export", {{"all", true}});
  }

  void Later(nanoseconds time, std::function<void()> what) {
    later_.emplace(clock_.Now() + time, std::move(what));
  }
  void PassDay(int day) {
    const nanoseconds end = hours(24 * day);
    while (clock_.Now() < end) {
      Until(std::min(end, clock_.Now() + minutes(chance_.Between(2, 45))));
      while (!later_.empty() && later_.begin()->first <= clock_.Now()) {
        const auto what = std::move(later_.begin()->second);
        later_.erase(later_.begin());
        what();
      }
      if (clock_.Now() < end) OneEvent();
    }
  }

  // At the end of a bad day (edits on a full disk, and a GPU is gone) all is well again, and nobody
  // does anything any more. No daemon is started anew.
  void TheUserLeaves() {
    while (!later_.empty()) {
      later_.begin()->second();
      later_.erase(later_.begin());
    }
    lives_.fate.writes_left = -1;
    crash_one_in_ = 1'000'000'000;
    lives_.Ask("resume", Json::object());
    for (auto& [device, gpu] : machine_.gpus) gpu.present = device != "cuda:0";
    lives_.fate.full = true;
    for (const auto& user : projects_) {
      user->bodies[0] = ++user->newest;
      user->project.SaveByRename(user->Text());
    }
    For(hours(2));
    lives_.fate.full = false;
    machine_.gpus["cuda:0"].present = true;
    For(hours(48));
  }

  void ExpectIdle() {
    Service& service = lives_.service();
    EXPECT_EQ(service.IdleReason(), "done");
    EXPECT_EQ(machine_.open(), 0u);
    for (const KernelJob* job : service.Jobs()) {
      EXPECT_TRUE(job->finished() && !job->may_try_again())
          << job->input().kernel.name << " on " << job->input().place.device << ": "
          << job->failure();
    }
    EXPECT_FALSE(lives_.loop().NextTimer()) << "an idle daemon has no timer";
    EXPECT_EQ(service.objects().size(), projects_.size());
    for (const auto& [folder, state] : service.objects()) {
      EXPECT_EQ(state.problem, "") << folder;
      ASSERT_NE(state.scan, nullptr) << folder;
      ExpectPublished(state);
    }
    for (const auto& user : projects_) {
      if (user->project.PublishedVariants().empty()) continue;
      EXPECT_TRUE(user->project.Compile())
          << user->name << ": its build does not take what is best";
    }
  }
  // Of each kernel what is best at each place, and nothing else.
  void ExpectPublished(const ObjectState& state) {
    std::set<std::string> best;
    for (const records::Kernel& kernel : state.scan->kernels) {
      EXPECT_FALSE(state.places.places.empty()) << kernel.name;
      for (std::size_t i = 0; i < state.places.places.size(); ++i) {
        for (const auto& one : lives_.service().BestSet(state, kernel, i)) {
          best.insert(one->variant.id);
        }
      }
    }
    const Published published = ReadPublished(state.object.folder);
    std::set<std::string> there;
    for (const auto& [kernel, ids] : published.variants) there.insert(ids.begin(), ids.end());
    EXPECT_EQ(there, best) << state.object.folder;
  }

  bool mortal_ = true;  // the daemon is killed, replaced and started again meanwhile
  std::multimap<nanoseconds, std::function<void()>> later_;
};

}  // namespace cupilot::service
