// Kernels that are friends of classes, as the host device's text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/lower/friend_kernels.h"
#include "source/lower/unsupported.h"
#include "source/syntax/query.h"
#include "tests/daemon/source/lower/lowered_text.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Of the one kernel that is a friend.
std::string StructureOf(const Tree& tree) {
  const auto structures = FriendStructures(tree);
  return structures.size() == 1 ? structures.begin()->second : "";
}

TEST(FriendKernels, TheClassHasTheStructureForAFriendToo) {
  const Tree tree = ParseText(R"(class Box {
  float v;
  friend __global__ void k(Box* box);
};
__global__ void k(Box* box) { box->v = 1; }
)");
  const std::string structure = StructureOf(tree);
  ASSERT_NE(structure, "");
  const std::string lowered = LoweredText(tree);
  EXPECT_THAT(lowered, HasSubstr("friend struct " + structure + "; friend"));
  EXPECT_THAT(lowered, HasSubstr("struct " + structure + " { static inline"));
}
TEST(FriendKernels, TheStructureOfATemplateHoldsTheTemplate) {
  const Tree tree = ParseText(R"(template <class T>
class Box {
  T v;
  template <class U>
  friend __global__ void k(Box<U>* box);
};
template <class U>
__global__ void k(Box<U>* box) { box->v = 1; }
)");
  const std::string structure = StructureOf(tree);
  ASSERT_NE(structure, "");
  const std::string lowered = LoweredText(tree);
  EXPECT_THAT(lowered, HasSubstr("friend struct " + structure + "; template <class U>"));
  EXPECT_THAT(lowered, HasSubstr("struct " + structure + " { template <class U>"));
}
TEST(FriendKernels, AQualifiedFriendIsDeclaredWhereTheKernelIs) {
  const Tree tree = ParseText(R"(class Box;
namespace image { static __global__ void k(Box* box); }
class Box {
  float v;
  friend __global__ void image::k(Box* box);
};
namespace image { static __global__ void k(Box* box) { box->v = 1; } }
)");
  const std::string structure = StructureOf(tree);
  ASSERT_NE(structure, "");
  const std::string lowered = LoweredText(tree);
  EXPECT_THAT(lowered, HasSubstr("namespace image { struct " + structure + "; static"));
  EXPECT_THAT(lowered, HasSubstr("friend struct image::" + structure + "; friend"));
  EXPECT_THAT(lowered, HasSubstr("struct " + structure + " { inline"));
}
TEST(FriendKernels, OverloadsHaveAStructureEachAndAllAreFriends) {
  const Tree tree = ParseText(R"(class Box {
  float v;
  friend __global__ void k(Box* box);
};
__global__ void k(Box* box) { box->v = 1; }
__global__ void k(int* p) { *p = 1; }
__global__ void other(int* p) { *p = 1; }
)");
  EXPECT_EQ(FriendStructures(tree).size(), 2u);
}
TEST(FriendKernels, OfAnotherUnitTheNameIsAnother) {
  const std::string text =
      "class Box { friend __global__ void k(Box* box); };\n__global__ void k(Box* box) {}\n";
  EXPECT_NE(StructureOf(ParseText(text)), StructureOf(ParseText(text + "int more;\n")));
}
TEST(FriendKernels, KernelsThatAreNoFriendsStayFunctions) {
  const Tree tree =
      ParseText("struct Box { float v; };\n__global__ void k(Box* b) { b->v = 1; }\n");
  EXPECT_THAT(FriendStructures(tree), IsEmpty());
  EXPECT_THAT(LoweredText(tree), Not(HasSubstr("cupilot_friend")));
}
TEST(FriendKernels, ADefinitionInTheClassIsRefused) {
  const Tree tree = ParseText(
      "# 1 \"box.cu\"\n\nclass Box {\n  friend __global__ void k(Box* b) { b->v = 1; }\n  int "
      "v;\n};\n");
  const auto found = FindUnsupported(tree);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].construct, "kernels that are defined in a friend declaration");
  EXPECT_EQ(found[0].place, "box.cu:3");
}

}  // namespace
}  // namespace cupilot::source
