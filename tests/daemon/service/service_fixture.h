// A service with fake workers, a fake evaluator, a store in memory and a clock that stands, on a
// project in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/memory_store.h"
#include "loop/timer.h"
#include "service/documents.h"
#include "service/service.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/fake_project.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {

// The evaluator's answers by variant; the writes of the publisher are counted, and fail while the
// disk is full.
class CountedFiles final : public PublishFiles {
 public:
  base::Result<bool> Write(const std::string& path, const std::string& bytes) override {
    ++writes;
    if (full) return base::Fail(base::IoError("No space left on device: " + path));
    return PublishFiles::Write(path, bytes);
  }
  base::Result<> Touch(const std::string& path) override {
    ++touches;
    if (full) return base::Fail(base::IoError("No space left on device: " + path));
    return PublishFiles::Touch(path);
  }
  int writes = 0;
  int touches = 0;
  bool full = false;  // the disk
};

// The same of the store; which records were read is counted, by table.
class FullableStore final : public cache::Store {
 public:
  explicit FullableStore(cache::Store& store) : store_(store) {}
  base::Result<std::optional<std::string>> Get(cache::Table table, std::string_view key) override {
    ++reads[table];
    return store_.Get(table, key);
  }
  base::Result<> Apply(const std::vector<cache::Write>& writes) override {
    if (full) return base::Fail(base::IoError("No space left on device"));
    return store_.Apply(writes);
  }
  base::Result<> Scan(
      cache::Table table, std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& visit) override {
    return store_.Scan(table, prefix, [&](std::string_view key, std::string_view value) {
      ++reads[table];
      return visit(key, value);
    });
  }
  std::map<cache::Table, int> reads;
  bool full = false;

 private:
  cache::Store& store_;
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest()
      : project_(folder_.path()),
        evaluator_([this](const evaluate::EvaluateRequest& request) { return judge_(request); }) {
    test::AnswerForFakeProjects(workers_);
    judge_ = [](const evaluate::EvaluateRequest& request) {
      return test::MakeEvaluation(request, 1.5);
    };
    settings_.quiet = std::chrono::milliseconds(20);
    settings_.publish_pause = std::chrono::milliseconds(0);
  }
  ~ServiceTest() override { Stop(); }

  std::string state() const { return folder_ / "state"; }

  // Configured, registered and compiled once, as after the user's first build.
  void Prepare(const std::string& source_text,
               const records::Json& options = records::Json::object()) {
    project_.WriteSource(source_text);
    project_.Configure(options);
    project_.Register(state());
    project_.Compile();
  }

  void Start() {
    service_ =
        std::make_unique<Service>(Service::Collaborators{*loop_, clock_, disk_, workers_,
                                                         evaluator_, files_, captures_, models_},
                                  settings_, state());
    service_->OnEvent([this](const std::string& name, const records::Json& data) {
      events_.push_back({{"event", name}, {"data", data}});
    });
    service_->Start();
  }
  // As a daemon's end: what is open is never answered.
  void Stop() {
    workers_.Stop();
    while (evaluator_.DropOne()) {
    }
    service_.reset();
    loop_ = std::make_unique<loop::Loop>();
  }
  void Restart() {
    Stop();
    workers_.Resume();
    Start();
  }

  // Answers whatever is asked until nothing is.
  void Drain() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      loop_->RunOnce(false);
      while (workers_.RunOne() || evaluator_.AnswerOne()) quiet = 0;
    }
  }
  // Goes on, waiting for events of files and timers, until it holds. Fails after a generous time.
  void DrainUntil(const std::function<bool()>& holds) {
    bool expired = false;
    loop::Timer limit(*loop_);
    limit.Start(std::chrono::seconds(60), [&expired] { expired = true; });
    Drain();
    while (!holds() && !expired) {
      loop_->RunOnce(true);
      Drain();
    }
    EXPECT_FALSE(expired) << "waited in vain";
  }
  // The same, but no evaluation ends.
  void WorkUntil(const std::function<bool()>& holds) {
    bool expired = false;
    loop::Timer limit(*loop_);
    limit.Start(std::chrono::seconds(60), [&expired] { expired = true; });
    workers_.RunAll();
    while (!holds() && !expired) {
      loop_->RunOnce(true);
      workers_.RunAll();
    }
    EXPECT_FALSE(expired) << "waited in vain";
  }
  // Until the first evaluation is under way.
  void WorkUntilEvaluating() {
    while (evaluator_.open() == 0) ASSERT_TRUE(workers_.RunOne());
  }
  // Until all events of files that are under way were looked at: until one is that comes after
  // them, of another project that registers itself.
  void DrainEvents() {
    const test::FakeProject mark(folder_ / ("mark" + std::to_string(++marks_)));
    mark.Configure();
    mark.Register(state());
    DrainUntil([&] { return service_->projects().count(mark.build_folder()) != 0; });
  }

  records::Json Row(const std::string& kernel) {
    const records::Json list = ListDocument(*service_, "");
    for (const records::Json& row : list["kernels"]) {
      if (row["kernel"] == kernel) return row;
    }
    return records::Json::object();
  }
  records::Json Explain(const std::string& kernel) {
    const auto place = FindKernel(*service_, kernel, "");
    EXPECT_TRUE(place) << kernel;
    return place ? ExplainDocument(*service_, *place) : records::Json::object();
  }
  std::string IdleReason() { return StatusDocument(*service_)["idle_reason"]; }
  int CountEvents(const std::string& name) const {
    int count = 0;
    for (const records::Json& event : events_) count += event["event"] == name ? 1 : 0;
    return count;
  }

  test::TemporaryFolder folder_;
  test::FakeProject project_;
  std::unique_ptr<loop::Loop> loop_ = std::make_unique<loop::Loop>();
  test::ManualClock clock_;
  cache::MemoryStore store_;
  FullableStore disk_{store_};
  test::FakeWorkers workers_;
  std::function<base::Result<records::Evaluation>(const evaluate::EvaluateRequest&)> judge_;
  test::FakeEvaluator evaluator_;
  CountedFiles files_;
  CaptureRunner* captures_ = nullptr;
  const ModelSurroundings* models_ = nullptr;
  Settings settings_;
  std::vector<records::Json> events_;
  std::unique_ptr<Service> service_;
  int marks_ = 0;
};

}  // namespace cupilot::service
