// corpus: swapped
// Names by using declarations, directives, aliases and typedefs, some of them of the standard library.
#include <cmath>
#include <cstdint>

#include "support.cuh"

namespace deep {
namespace down {
struct Value {
  std::int32_t number;
};
__device__ Value Twice(Value value) { return Value{2 * value.number}; }
template <class T>
using Pointer = T*;
}  // namespace down
}  // namespace deep

namespace dd = deep::down;
using dd::Value;
using Numbers = dd::Pointer<Value>;
typedef std::uint64_t Count;
typedef float (*Unused)(float);
namespace app {
using namespace deep::down;
using std::sqrt;

// cupilot: tune
__global__ void change(Numbers numbers, Count n) {
  using ::dd::Twice;
  typedef Value Local;
  Count i = Count(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Local twice = Twice(numbers[i]);
  numbers[i].number = twice.number + int(sqrt(float(i)));
}
}  // namespace app

int main() {
  support::Array<int> data(256, 1, 1);
  app::change<<<4, 64>>>(reinterpret_cast<Value*>(data.get()), 256);
  support::Show("data", data);
}
