#include "attributes_kernels.h"

#include <utility>

#include "daemon/source/swap/scale_kernel.h"
#include "source/swap/variant_text.h"

namespace cupilot::source {
namespace {

using records::Json;
using records::ParameterKind;

SwappedKernel Kernel(const std::string& name) {
  SwappedKernel swapped;
  records::Kernel& kernel = swapped.kernel;
  kernel.name = "app::" + name;
  kernel.base_name = name;
  kernel.namespaces = {"app"};
  kernel.parameters = {MakeParameter("in", "const float *", ParameterKind::kPointer, 8),
                       MakeParameter("out", "float *", ParameterKind::kPointer, 8),
                       MakeParameter("n", "int", ParameterKind::kInteger, 4)};
  return swapped;
}

}  // namespace

SwapRequest AttributesRequest(const std::string& source, const std::vector<std::string>& targets) {
  SwappedKernel staged = Kernel("staged");
  records::Variant one;
  one.kernel = staged.kernel.name;
  one.source = R"(
__global__ void __launch_bounds__(256) staged_more(const float* in, float* out, int n) {
  extern __shared__ float room[];
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&seen[1], 1);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  room[255 + threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = 2.0f * room[255 + threadIdx.x];
})";
  records::Launch more;
  more.entry = "staged_more";
  more.shared_bytes = "shared_bytes + 1024";
  one.launches = {more};
  one.id = records::VariantId(one);

  SwappedKernel through = Kernel("through");
  records::Variant two;
  two.kernel = through.kernel.name;
  two.source = R"(
__global__ void to(const float* in, float* room, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&seen[2], 1);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) room[i] += in[i];
}
__global__ void from(const float* room, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = 3.0f * room[n - 1 - i];
})";
  two.workspace = {{"room", "4 * n", true}};
  records::Launch to, from;
  to.entry = "to";
  to.arguments = {Json("in"), Json("room"), Json("n")};
  from.entry = "from";
  from.arguments = {Json("room"), Json("out"), Json("n")};
  two.launches = {to, from};
  two.id = records::VariantId(two);

  SwapRequest request;
  request.source = source;
  request.unit = "attributes";
  for (const std::string& target : targets) {
    staged.variants.push_back(
        {one, target, {}, "n >= 1 && disjoint(in, 4 * n, out, 4 * n)", "", 1.1});
    through.variants.push_back({two, target, {}, "n >= 1", "", 1.1});
  }
  request.kernels = {staged, through};
  return request;
}

std::string AttributesDefinitions(const SwapRequest& request) {
  const SwappedKernel& staged = request.kernels[0];
  return " -DSTAGED_VARIANT=" + records::VariantNamespace(staged.variants[0].variant.id) +
         " -DSTAGED_OBJECT=" + UnitNamespace(staged.kernel, request.unit);
}

}  // namespace cupilot::source
