// What is to hold on each of many days: no variant is lost, no job is stuck, nothing becomes
// slower, nothing leaks.
#pragma once

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cache/record.h"
#include "records/evaluation.h"
#include "service/place.h"
#include "tests/daemon/service/thirty_days/simulated_days.h"

namespace cupilot::service {

using cache::Table;

inline constexpr double kMargin = 1.03;   // what replaces a champion beats it by 2 %
inline constexpr std::size_t kShort = 7;  // digits of a hash

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUPILOT_UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUPILOT_UNDER_SANITIZER
#endif
#endif
#ifdef CUPILOT_UNDER_SANITIZER
inline constexpr bool kMemoryIsOurs = false;  // a sanitizer keeps what was freed
#else
inline constexpr bool kMemoryIsOurs = true;
#endif

// So short that what the test remembers of thirty days counts for nothing in its memory.
inline std::string ShortKey(const std::string& kernel_key, const Place& place) {
  return kernel_key.substr(0, kShort) + KeyOf(place).substr(0, kShort);
}

class JudgedDays : public SimulatedDays {
 protected:
  ~JudgedDays() override {
    // It keeps its book to the end.
    if (lives_.alive()) lives_.End();
  }

  // What was accepted is written into a file, and that it may go.
  void KeepBook(cache::Store& store, const std::vector<cache::Write>& writes) override {
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
  void WatchProgress() override {
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
    if (unsure_nights_ > 0) champions_.clear();
    if (unsure_nights_ > 0 && !lives_.fate.full) --unsure_nights_;
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

  void ExpectAllKept(int day) {
    Turn();
    std::erase_if(waiting_, [](const auto& one) { return one.second.free == nanoseconds(0); });
    ExpectNoVariantLost();
    ExpectChampionsAsGood();
    idle_ = lives_.service().IdleReason();
    const auto open = test::OpenDescriptors(folder_ / "state");
    if (day == 1) descriptors_ = open;
    EXPECT_EQ(open, descriptors_) << "day " << day;
  }
  void Say(int day, const std::string& memory) const {
    std::printf(
        "day %2d: %5lld measured, %4lld accepted, %4zu kept, %4lld pruned, %3d kills, %4lld writes "
        "refused, %s, %zu descriptors, %s\n",
        day, static_cast<long long>(machine_.measured()), static_cast<long long>(accepted_), kept_,
        static_cast<long long>(pruned_), kills_, static_cast<long long>(lives_.fate.refused),
        idle_.c_str(), descriptors_.size(), memory.c_str());
    std::fflush(stdout);
  }
  static double Median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
  }

  struct Waiting {
    std::size_t evaluations = 0;
    nanoseconds free{0};
  };

  std::ofstream book_{folder_ / "book"};
  nanoseconds looked_at_{0};
  std::map<std::string, Waiting> waiting_;
  std::map<std::string, double> champions_;  // speedups, by kernel and place
  int unsure_nights_ = 0;                    // in which champions may have gone
  std::multiset<std::string> descriptors_;   // of the first day
  std::string prune_before_;
  std::string idle_;  // why, at midnight
  std::int64_t accepted_ = 0, pruned_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace cupilot::service
