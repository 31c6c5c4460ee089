// corpus: swapped
// An inline namespace inside two others, reopened, with names that a using directive brings in.
#include "support.cuh"

namespace physics {
namespace units {
__device__ float Half(float value) { return 0.5f * value; }
typedef float Length;
}  // namespace units
inline namespace v2 {
namespace fluid {
using namespace units;
struct Drop {
  Length size;
};
}  // namespace fluid
}  // namespace v2
namespace fluid {
// Not the Drop below: another namespace of the same name.
struct Other {
  int size;
};
}  // namespace fluid
inline namespace v2 {
namespace fluid {

// cupilot: tune
// cupilot: workload grid=8 block=32 n=256 sizes=normal[n] halves=[n]
__global__ void halve(const float* sizes, float* halves, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Drop drop = {sizes[i]};
  halves[i] = Half(drop.size);
}

}  // namespace fluid
}  // namespace v2
}  // namespace physics

int main() {
  support::Array<float> sizes(256, 1.5, 0.25), halves(256);
  physics::v2::fluid::halve<<<8, 32>>>(sizes.get(), halves.get(), 256);
  support::Show("halves", halves);
}
