#include "client/report/variant_tree.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace cupilot::client {
namespace {

using records::Json;

Json TreeRow(const std::string& id, const std::vector<std::string>& techniques,
             const std::vector<std::string>& parents = {}) {
  Json steps = Json::array();
  for (const std::string& technique : techniques) steps.push_back({{"technique", technique}});
  return {{"id", id}, {"steps", steps}, {"parents", parents}};
}

// "id<parent" of each.
std::vector<std::string> TreeLines(Json rows) {
  PlaceVariants(rows);
  std::vector<std::string> lines;
  for (const Json& row : rows) {
    lines.push_back(row["id"].get<std::string>() + "<" + row["parent"].get<std::string>());
  }
  return lines;
}

TEST(VariantTreeTest, ParentsAreKnownOnesElseTheLongestBeginning) {
  EXPECT_THAT(
      TreeLines({TreeRow("a", {"x"}), TreeRow("b", {"x", "y"}), TreeRow("c", {"x", "y", "z"}),
                 TreeRow("d", {"q", "y"}), TreeRow("e", {}, {"gone", "d"}),
                 TreeRow("f", {"x"}, {"gone"}), TreeRow("g", {"x", "z", "y"})}),
      ::testing::ElementsAre("a<", "b<a", "c<b", "d<", "e<d", "f<", "g<a"));
}

TEST(VariantTreeTest, NobodyIsItsOwnParent) {
  EXPECT_THAT(TreeLines({TreeRow("a", {"x"}, {"a"}), TreeRow("b", {"x", "x"}, {"b"})}),
              ::testing::ElementsAre("a<", "b<a"));
}

TEST(VariantTreeTest, CirclesAreCut) {
  EXPECT_THAT(TreeLines({TreeRow("a", {}, {"b"}), TreeRow("b", {}, {"c"}), TreeRow("c", {}, {"a"}),
                         TreeRow("d", {}, {"c"})}),
              ::testing::ElementsAre("a<", "b<c", "c<a", "d<c"));
}

}  // namespace
}  // namespace cupilot::client
