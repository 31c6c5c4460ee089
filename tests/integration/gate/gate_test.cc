// The collection of tests/data/gate: its form, and a sample of it through the gate. All of it is in
// full/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "records/variant.h"
#include "tests/integration/gate/gate_checks.h"

namespace cupilot::gate {
namespace {

TEST(Gate, TheSampleIsJudgedRight) {
  const auto collection = ReadTheCollection();
  ASSERT_TRUE(collection) << collection.error().message;
  std::vector<const Candidate*> sample;
  for (const Candidate& candidate : collection->candidates) {
    if (candidate.sample) sample.push_back(&candidate);
  }
  ASSERT_FALSE(sample.empty());
  ExpectJudgedRight(*collection, sample);
}

TEST(Gate, TheCollectionIsWide) {
  const auto collection = ReadTheCollection();
  ASSERT_TRUE(collection) << collection.error().message;
  std::set<std::string> used, sources;
  std::size_t good = 0, bad = 0;
  for (const Candidate& candidate : collection->candidates) {
    SCOPED_TRACE(candidate.name);
    used.insert(candidate.kernel);
    (candidate.good() ? good : bad) += 1;
    EXPECT_THAT(candidate.what, ::testing::EndsWith("."));
    EXPECT_TRUE(sources.insert(candidate.variant.dump()).second) << "the same as another";
  }
  EXPECT_GE(good, 40u);
  EXPECT_GE(bad, 80u);
  EXPECT_GE(used.size(), 12u);
  EXPECT_EQ(used.size(), collection->kernels.size()) << "a kernel without candidates";
  for (const char* type : {"float*", "double*", "__half*", "__nv_bfloat16*", "int*", "unsigned*"}) {
    const auto has = [&](const auto& kernel) {
      return kernel.second.find(type) != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(collection->kernels.begin(), collection->kernels.end(), has)) << type;
  }
}

// Every way of the catalogue (31 rows) has a candidate: one that a check rejects, one that the
// whitelist rejects, or a document that the format refuses.
TEST(Gate, EveryClassOfTheCatalogueHasACandidate) {
  const auto collection = ReadTheCollection();
  ASSERT_TRUE(collection) << collection.error().message;
  std::set<std::string> bad;
  for (const Candidate& candidate : collection->candidates) {
    if (!candidate.good()) bad.insert(candidate.catalogue);
  }
  constexpr int kClasses = 31;
  for (int number = 1; number <= kClasses; ++number) {
    EXPECT_TRUE(bad.contains(std::to_string(number))) << "class " << number;
  }
}

}  // namespace
}  // namespace cupilot::gate
