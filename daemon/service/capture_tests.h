// Runs the tests that projects name as CAPTURE_TEST, one at a time and once for each build that
// leaves a kernel without a workload, and says what came of it. What was tried outlives the daemon.
// On the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/unique_function.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "service/capture_runner.h"
#include "service/capture_schedule.h"
#include "service/catalog.h"

namespace cupilot::service {

class CaptureTests {
 public:
  struct Settings {
    bool enabled = true;
    std::string log_folder;
  };
  // `runner` may be null: nothing is run. `changed` is called when a run ended, with its test, and
  // when one that had to wait may begin, with null.
  CaptureTests(loop::Loop& loop, Catalog& catalog, CaptureRunner* runner, Settings settings,
               base::UniqueFunction<void(const CaptureId* ended)> changed);
  CaptureTests(const CaptureTests&) = delete;
  CaptureTests& operator=(const CaptureTests&) = delete;
  ~CaptureTests();

  // Decides what is due.
  void Look(const std::map<std::string, Project>& projects,
            const std::vector<CaptureObject>& objects);
  const std::vector<CaptureDemand>& due() const { return due_; }
  // Begins the first that is due and that `may_begin`; false if none is, or one runs.
  bool Begin(const std::map<std::string, Project>& projects,
             const std::function<bool(const CaptureDemand&)>& may_begin);
  // Null: none runs.
  const CaptureId* running() const { return running_ ? &running_->id : nullptr; }
  // What it showed was dropped since: it may show it again, but not for ever in one build.
  void Again(const CaptureId& id);
  // What runs is ended, and is not what was tried.
  void Interrupt();
  // Nothing is known of the build folder any more.
  void Forget(const std::string& build_folder);

  // Why a kernel that this test is to show has no workload, as the end of a sentence; empty: the
  // test has nothing to show.
  std::string Note(const CaptureId& id) const;
  // Null: never tried.
  const CaptureTry* FindTry(const CaptureId& id) const;

 private:
  std::string LogOf(const CaptureId& id) const;
  void Load();
  void Save();
  void OnEnd(const std::string& failure);

  Catalog& catalog_;
  CaptureRunner* const runner_;
  const Settings settings_;
  base::UniqueFunction<void(const CaptureId* ended)> changed_;
  std::map<CaptureId, CaptureTry> tries_;
  std::map<CaptureId, std::string> notes_;
  std::vector<CaptureDemand> due_;
  std::optional<CaptureDemand> running_;
  bool interrupted_ = false;
  loop::Timer timer_;  // while a build tool works
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::service
