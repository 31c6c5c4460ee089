// Kernels that classes call their friends: a copy is nobody's friend.
#include "scan_fixture.h"

namespace cupilot::source {
namespace {

using ::testing::HasSubstr;

class FriendsTest : public ScanFixture {};

constexpr const char* kClass = R"(class Box {
  float v;
  friend __global__ void fill(Box* box);

 public:
  __device__ float Get() const { return v; }
};
)";

TEST_F(FriendsTest, AFriendIsDeclinedAtTheClass) {
  const records::Kernel kernel = OneKernel(
      std::string(kClass) + "// cupilot: tune\n__global__ void fill(Box* box) { box->v = 1; }\n");
  EXPECT_THAT(kernel.declined, HasSubstr(":3: 'fill' is a friend of this class"));
}
TEST_F(FriendsTest, AKernelThatUsesTheClassIsNot) {
  const records::Kernel kernel = OneKernel(
      std::string(kClass) + "__global__ void fill(Box* box) { box->v = 1; }\n" +
      "// cupilot: tune\n__global__ void get(Box* box, float* out) { *out = box->Get(); }\n");
  EXPECT_EQ(kernel.declined, "");
}

}  // namespace
}  // namespace cupilot::source
