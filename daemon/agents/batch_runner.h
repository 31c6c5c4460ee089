// Carries the folder of an ExchangeProvider to a service that takes batches, and back: open
// requests are collected and sent together, and what comes back is put where answers are looked
// for.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/batch_format.h"
#include "agents/batch_service.h"
#include "base/result.h"
#include "base/unique_function.h"

namespace cupilot::agents {

// FOLDER/batches/NAME.json says which requests are in the batch of that name ("done" where it has
// come back), so that batches survive the daemon; FOLDER/batches/creating.json is there while a
// batch is given to the service. Whoever finds it when it starts cannot know whether the service
// has the batch: its requests count as sent and lost, and are not sent twice.
//
// On the loop thread. What is under way when it is destroyed is found by the next one.
class BatchRunner {
 public:
  struct Settings {
    std::string folder{};
    std::chrono::milliseconds period{300'000};  // between looks at the service and at the folder
    int looks_before_sending = 2;  // the first of waiting requests waits so many looks for others
    std::size_t most_requests = 10'000;  // of one batch
    std::size_t most_bytes = std::size_t{64} << 20;
  };

  BatchRunner(Alarms& alarms, BatchService& service, const BatchFormat& format, Settings settings);
  BatchRunner(const BatchRunner&) = delete;
  BatchRunner& operator=(const BatchRunner&) = delete;

  // Looks now, and from then on every period. kIo where the folder cannot be written.
  base::Result<> Start();
  // What went wrong last; empty: nothing.
  const std::string& problem() const { return problem_; }
  // Batches under way.
  std::size_t open() const { return open_.size(); }

 private:
  struct Batch {
    std::string name;
    std::vector<std::string> requests;
  };
  base::Result<> ReadState();
  void Look();
  void PollNext();
  void OnPolled(const Batch& batch, tl::expected<std::optional<std::string>, ModelError> lines);
  base::Result<> Keep(const Batch& batch, const std::string& lines);
  void SendWaiting();
  void OnCreated(std::vector<std::string> requests, tl::expected<std::string, ModelError> name);
  base::Result<> Lose(const std::vector<std::string>& requests);
  base::Result<> Write(const Batch& batch, bool done) const;
  std::vector<std::string> Waiting() const;
  void Rest();
  std::string Path(const std::string& name) const;

  Alarms& alarms_;
  BatchService& service_;
  const BatchFormat& format_;
  Settings settings_;
  std::vector<Batch> open_;
  std::vector<Batch> to_poll_;
  std::set<std::string> sent_;  // requests of all batches there ever were here
  int looks_ = 0;               // since requests wait
  std::string problem_;
  std::unique_ptr<Alarm> next_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // the service's callbacks ask
};

}  // namespace cupilot::agents
