// What both tests of the collection ask: a stretch of it through the gate on the host device.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/install_layout.h"
#include "tests/integration/gate/gate_runner.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::gate {

inline base::Result<Collection> ReadTheCollection() {
  return ReadCollection(std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/gate");
}

// Each candidate is judged as its file says; each known gap still is one, or it has to leave the
// list.
inline void ExpectJudgedRight(const Collection& collection,
                              const std::vector<const Candidate*>& candidates) {
  const test::TemporaryFolder folder;
  RunnerSettings settings;
  settings.worker = base::LibexecFolder() + "/cupilot-worker";
  settings.compiler = base::HostToolkitFolder() + "/bin/nvcc";
  settings.work_folder = folder.path();
  Runner runner(collection, settings);
  std::vector<Trial> trials;
  trials.reserve(candidates.size());
  for (const Candidate* candidate : candidates) trials.push_back({candidate, 1});
  std::size_t judged = 0, gaps = 0;
  runner.Run(trials, [&](const Trial& trial, const Outcome& outcome) {
    ++judged;
    const Candidate& candidate = *trial.candidate;
    const std::string wrong = Misjudged(candidate, outcome);
    const auto luck = collection.by_luck.find(candidate.name);
    if (luck != collection.by_luck.end()) {
      std::printf("by luck %s: %s (%s)\n", candidate.name.c_str(),
                  wrong.empty() ? "caught" : wrong.c_str(), luck->second.c_str());
      ++gaps;
      return;
    }
    const auto gap = collection.gaps.find(candidate.name);
    if (gap == collection.gaps.end()) {
      EXPECT_EQ(wrong, "") << candidate.name << " (class " << candidate.catalogue
                           << "): " << candidate.what;
      return;
    }
    ++gaps;
    std::printf("known gap %s: %s (%s)\n", candidate.name.c_str(), wrong.c_str(),
                gap->second.c_str());
    EXPECT_NE(wrong, "") << candidate.name << " is judged right now: known_gaps.json must shrink";
  });
  EXPECT_EQ(judged, candidates.size());
  std::printf("%zu candidates, %zu known gaps or caught by luck\n", judged, gaps);
}

}  // namespace cupilot::gate
