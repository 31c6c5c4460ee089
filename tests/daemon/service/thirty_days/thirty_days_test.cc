// Thirty days of a workstation in a few minutes: edits, builds, GPUs that come and go, suspends,
// upgrades, full disks and kills, at random moments of a simulated clock. No variant is lost, no
// job is stuck, nothing leaks, and in the end the daemon is idle. CUPILOT_TEST_SEED and
// CUPILOT_TEST_DAYS choose other runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cache/record.h"
#include "log/log.h"
#include "records/evaluation.h"
#include "service/documents.h"
#include "service/place.h"
#include "source/swap/selection_check.h"
#include "tests/daemon/service/thirty_days/chance.h"
#include "tests/daemon/service/thirty_days/daemon_lives.h"
#include "tests/support/running_build.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int kStoreDays = 8;  // so long evidence is kept that nothing uses
constexpr int kUpgradeDay = 7;
constexpr int kDriverDay = 12;
constexpr double kMargin = 1.03;  // what replaces a champion beats it by 2 %
constexpr double kFlat = 1.05;
constexpr double kMostOfOneDaemon = 16;  // megabytes
constexpr std::size_t kShort = 7;        // digits of a hash

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUPILOT_UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUPILOT_UNDER_SANITIZER
#endif
#endif
#ifdef CUPILOT_UNDER_SANITIZER
constexpr bool kMemoryIsOurs = false;  // a sanitizer keeps what was freed
#else
constexpr bool kMemoryIsOurs = true;
#endif

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// So short that what the test remembers of thirty days counts for nothing in its memory.
std::string ShortKey(const std::string& kernel_key, const Place& place) {
  return kernel_key.substr(0, kShort) + KeyOf(place).substr(0, kShort);
}

// A user's project: kernels of which each has one of a few bodies, with an older one now and then.
struct UsersProject {
  UsersProject(const std::string& root, std::string the_name, bool on_host)
      : project(root), name(std::move(the_name)) {
    if (on_host) return;
    // The compiler of this one is the toolkit's.
    std::filesystem::remove(root + "/toolkit/include/cupilot_host_abi.h");
    project.command().arguments.insert(project.command().arguments.begin() + 1, "-arch=sm_90");
  }
  std::string Text() const {
    std::string text = around + "\n";
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      text += "kernel " + name + std::to_string(i) + " body" + std::to_string(bodies[i]) +
              " weight=" + std::to_string(i + 1) + (i == 0 ? " tunable=T" : "") + "\n";
    }
    return text;
  }

  test::FakeProject project;
  std::string name;
  std::vector<std::int64_t> bodies = {0, 0};
  std::string around = "something";
  std::int64_t newest = 0;
  bool there = true;
};

class ThirtyDaysTest : public ::testing::Test {
 protected:
  ThirtyDaysTest()
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

  // ---- time ----

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

  // ---- what is to hold ----

  // What was accepted is written into a file, and that it may go.
  void KeepBook(cache::Store& store, const std::vector<cache::Write>& writes) {
    for (const cache::Write& write : writes) {
      if (write.table != Table::kEvaluations && write.table != Table::kVariants) continue;
      if (!write.value) {
        if (write.table == Table::kEvaluations) JudgeDeletion(store, write.key);
        book_ << "- " << write.key << "\n";
        continue;
      }
      if (write.table != Table::kEvaluations) continue;
      const auto record = cache::Unseal(*write.value);
      const auto evaluation = records::ParseEvaluation(record->value);
      if (!evaluation->accepted) continue;
      ++accepted_;
      book_ << "+ " << write.key << "\n";
      book_ << "+ " << evaluation->kernel_key << "/" << evaluation->variant << "\n";
    }
  }
  void JudgeDeletion(cache::Store& store, const std::string& key) {
    const auto bytes = store.Get(Table::kEvaluations, key);
    ASSERT_TRUE(bytes && *bytes) << key;
    const auto record = cache::Unseal(**bytes);
    const auto evaluation = records::ParseEvaluation(record->value);
    ASSERT_TRUE(evaluation);
    ++pruned_;
    EXPECT_LT(evaluation->date, prune_before_.empty()
                                    ? lives_.service().DateBefore(kStoreDays * 86400.0)
                                    : prune_before_)
        << "pruned too early";
    for (const auto& user : projects_) {
      const auto published = user->project.PublishedVariants();
      EXPECT_EQ(std::count(published.begin(), published.end(), evaluation->variant), 0)
          << "pruned although a build uses it";
    }
    std::erase_if(champions_, [&](const auto& one) {
      return one.first.starts_with(evaluation->kernel_key.substr(0, kShort));
    });
  }
  void ExpectNoVariantLost() {
    book_.flush();
    std::set<std::string> there;
    std::ifstream book(folder_ / "book");
    for (std::string sign, key; book >> sign >> key;) {
      if (sign == "+") {
        there.insert(key);
      } else {
        there.erase(key);
      }
    }
    for (const std::string& key : there) {
      const bool evaluation = std::count(key.begin(), key.end(), '/') > 1;
      const auto value =
          lives_.store().Get(evaluation ? Table::kEvaluations : Table::kVariants, key);
      EXPECT_TRUE(value && value->has_value()) << "lost: " << key;
    }
    kept_ = there.size();
  }

  // A day of free device for a job without any verdict is too long.
  void WatchProgress() {
    const nanoseconds passed = clock_.Now() - looked_at_;
    if (passed < minutes(10)) return;
    looked_at_ = clock_.Now();
    Service& service = lives_.service();
    const std::string idle = service.IdleReason();
    const bool held = idle == "snoozed" || idle == "build running" || lives_.fate.full;
    for (const KernelJob* job : service.Jobs()) {
      const JobInput& input = job->input();
      const std::string key = ShortKey(input.kernel.key, input.place);
      if (job->finished() && !job->may_try_again()) {
        waiting_.erase(key);
        continue;
      }
      const std::size_t evaluations = service.catalog().CountEvaluations(input.kernel.key);
      Waiting& waiting = waiting_[key];
      if (waiting.evaluations != evaluations) waiting = {evaluations, {}};
      if (!held && IsFree(input.place.device)) waiting.free += passed;
      if (waiting.free > hours(24)) {
        ADD_FAILURE() << input.kernel.name << " is stuck on " << input.place.device << ": "
                      << (job->finished() ? "finished " : "") << (job->busy() ? "busy " : "")
                      << job->stage() << " " << job->failure() << " " << idle;
        waiting.free = {};
      }
    }
  }
  bool IsFree(const std::string& device) const {
    const auto gpu = machine_.gpus.find(device);
    return gpu == machine_.gpus.end() ||
           (gpu->second.present && gpu->second.others_load == 0 && gpu->second.power == "active");
  }

  void ExpectChampionsAsGood() {
    Service& service = lives_.service();
    for (const auto& [folder, state] : service.objects()) {
      if (state.scan == nullptr) continue;
      for (const records::Kernel& kernel : state.scan->kernels) {
        for (std::size_t i = 0; i < service.PlacesOf(state).places.size(); ++i) {
          const std::string key = ShortKey(kernel.key, service.PlacesOf(state).places[i]);
          const auto best = service.Best(state, kernel, i);
          const double now = best ? best->evaluation.speedup.value_or(1) : 1;
          double& before = champions_.try_emplace(key, now).first->second;
          EXPECT_GE(now * kMargin, before) << kernel.name << " became slower";
          before = std::max(before, now);
        }
      }
    }
  }

  void AtMidnight(int day) {
    Turn();
    std::erase_if(waiting_, [](const auto& one) { return one.second.free == nanoseconds(0); });
    ExpectNoVariantLost();
    ExpectChampionsAsGood();
    const auto open = test::OpenDescriptors(folder_ / "state");
    if (day == 1) descriptors_ = open;
    EXPECT_EQ(open, descriptors_) << "day " << day;
    // Without a daemon there is only what none of them gave back; what a store keeps of its files
    // in memory differs from day to day.
    const std::string idle = lives_.service().IdleReason();
    const double living = test::ResidentMegabytes();
    lives_.End();
    const double megabytes = test::ResidentMegabytes();
    lives_.Begin();
    if (kMemoryIsOurs) {
      EXPECT_LE(living - megabytes, kMostOfOneDaemon) << "day " << day;
    }
    if (day >= 10) resident_.push_back(megabytes);
    std::printf(
        "day %2d: %5lld measured, %4lld accepted, %4zu kept, %4lld pruned, %3d kills, %4lld writes "
        "refused, %s, %zu descriptors, %.1f MB, %.1f MB with the daemon\n",
        day, static_cast<long long>(machine_.measured()), static_cast<long long>(accepted_), kept_,
        static_cast<long long>(pruned_), kills_, static_cast<long long>(lives_.fate.refused),
        idle.c_str(), open.size(), megabytes, living);
    std::fflush(stdout);
  }

  // ---- what happens ----

  void OneEvent() {
    UsersProject& user = *chance_.Of(projects_);
    switch (chance_.Below(26)) {
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
      // What the compile refused is a rule.
      champions_.clear();
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

  void Upgrade() {
    lives_.End();
    lives_.MakeStoreOlder();
    const std::string backup = lives_.Begin();
    EXPECT_TRUE(std::filesystem::exists(backup)) << "of the older store no copy was made";
  }
  // With another driver all is to be measured again.
  void NewDriver() {
    lives_.End();
    for (auto& [device, gpu] : machine_.gpus) gpu.driver = "590.2";
    lives_.Begin();
    champions_.clear();
  }

  void Later(nanoseconds time, std::function<void()> what) {
    later_.emplace(clock_.Now() + time, std::move(what));
  }
  void OneDay(int day) {
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
    if (day == kUpgradeDay) Upgrade();
    if (day == kDriverDay) NewDriver();
    AtMidnight(day);
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
        for (const Proven& one : lives_.service().BestSet(state, kernel, i)) {
          best.insert(one.variant.id);
        }
      }
    }
    const Published published = ReadPublished(state.object.folder);
    std::set<std::string> there;
    for (const auto& [kernel, ids] : published.variants) there.insert(ids.begin(), ids.end());
    EXPECT_EQ(there, best) << state.object.folder;
  }

  struct Waiting {
    std::size_t evaluations = 0;
    nanoseconds free{0};
  };

  test::TemporaryFolder folder_;
  test::Chance chance_;
  test::MachineClock clock_;
  test::Machine machine_;
  std::vector<std::unique_ptr<UsersProject>> projects_;
  std::ofstream book_{folder_ / "book"};
  DaemonLives lives_;
  std::uint64_t crash_one_in_ = 150;
  nanoseconds looked_at_{0};
  std::multimap<nanoseconds, std::function<void()>> later_;
  std::map<std::string, Waiting> waiting_;
  std::map<std::string, double> champions_;  // speedups, by kernel and place
  std::multiset<std::string> descriptors_;   // of the first day
  std::vector<double> resident_;             // from the tenth day on
  std::string prune_before_;
  std::int64_t accepted_ = 0, pruned_ = 0;
  std::size_t kept_ = 0;
  int kills_ = 0;
};

TEST_F(ThirtyDaysTest, NothingIsLostStuckOrLeaked) {
  const int days = static_cast<int>(FromEnvironment("CUPILOT_TEST_DAYS", 30));
  lives_.Begin();
  for (int day = 1; day <= days; ++day) OneDay(day);
  TheUserLeaves();
  ExpectIdle();
  AtMidnight(days + 2);
  EXPECT_GT(accepted_, 10 * days);
  EXPECT_GT(kills_, days);
  EXPECT_GT(lives_.fate.refused, 0);
  if (days < 30) return;
  EXPECT_GT(pruned_, 0);
  const auto [least, most] = std::minmax_element(resident_.begin(), resident_.end());
  if (kMemoryIsOurs) {
    EXPECT_LE(*most, *least * kFlat) << "resident memory grows";
  }
}

}  // namespace
}  // namespace cupilot::service
