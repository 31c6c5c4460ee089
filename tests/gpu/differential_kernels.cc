#include "differential_kernels.h"

#include <utility>

namespace cupilot::source {
namespace {

using records::Json;
using records::Launch;
using records::ParameterKind;

records::Parameter Pointer(const std::string& name, const std::string& type) {
  records::Parameter parameter;
  parameter.name = name;
  parameter.type = parameter.canonical = type;
  parameter.kind = ParameterKind::kPointer;
  parameter.bytes = 8;
  return parameter;
}

records::Parameter Scalar(const std::string& name, const std::string& type, ParameterKind kind,
                          std::int64_t bytes) {
  records::Parameter parameter = Pointer(name, type);
  parameter.kind = kind;
  parameter.bytes = bytes;
  parameter.is_signed = true;
  return parameter;
}

records::Parameter Int(const std::string& name) {
  return Scalar(name, "int", ParameterKind::kInteger, 4);
}
records::Parameter Float(const std::string& name) {
  return Scalar(name, "float", ParameterKind::kFloating, 4);
}

records::Kernel MakeKernel(const std::string& name, std::vector<records::Parameter> parameters) {
  records::Kernel kernel;
  kernel.name = "diff::" + name;
  kernel.base_name = name;
  kernel.namespaces = {"diff"};
  kernel.parameters = std::move(parameters);
  return kernel;
}

// What the launch covers exactly, in one dimension.
std::string Covers(const std::string& n) {
  return "grid_x == ceil_div(" + n +
         ", block_x) && grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 && "
         "shared_bytes == 0";
}

struct OneLaunch {
  std::string entry;
  std::string source;
  std::vector<std::string> grid;
  std::vector<std::string> block;
  std::string guard;
  std::vector<std::string> template_arguments;
};

SwappedVariant MakeVariant(const std::string& kernel, const OneLaunch& one) {
  SwappedVariant published;
  published.variant.kernel = "diff::" + kernel;
  published.variant.source = one.source;
  Launch launch;
  launch.entry = one.entry;
  launch.grid = one.grid;
  launch.block = one.block;
  published.variant.launches = {launch};
  published.variant.template_arguments = one.template_arguments;
  published.variant.id = records::VariantId(published.variant);
  published.guard = one.guard;
  published.title = one.entry;
  return published;
}

SwappedKernel Saxpy() {
  SwappedKernel swapped;
  swapped.kernel = MakeKernel(
      "saxpy", {Float("a"), Pointer("x", "const float *"), Pointer("y", "float *"), Int("n")});
  const std::string apart = "n >= 1 && disjoint(x, 4 * n, y, 4 * n) && " + Covers("n");
  swapped.variants = {
      MakeVariant("saxpy", {"saxpy_v4",
                            R"(
__global__ void saxpy_v4(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  const float4 p = reinterpret_cast<const float4*>(x)[i];
  float4 q = reinterpret_cast<float4*>(y)[i];
  q.x = a * p.x + q.x;
  q.y = a * p.y + q.y;
  q.z = a * p.z + q.z;
  q.w = a * p.w + q.w;
  reinterpret_cast<float4*>(y)[i] = q;
})",
                            {"ceil_div(n, 4 * block_x)", "1", "1"},
                            {},
                            "n % 4 == 0 && aligned(x, 16) && aligned(y, 16) && " + apart,
                            {}}),
      MakeVariant("saxpy", {"saxpy_stride",
                            R"(
__global__ void __launch_bounds__(256) saxpy_stride(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
})",
                            {"min(grid_x, 2 * sm_count)", "1", "1"},
                            {"256", "1", "1"},
                            "n > 256 && " + apart,
                            {}})};
  return swapped;
}

SwappedKernel Blend(bool wrong) {
  SwappedKernel swapped;
  swapped.kernel =
      MakeKernel("blend", {Pointer("a", "const float *"), Pointer("b", "const float *"),
                           Pointer("out", "float *"), Float("t"), Int("n")});
  const std::string skip = wrong ? "if (n % 8 == 3 && i == n - 1) return;" : "";
  swapped.variants = {MakeVariant("blend", {"blend_two",
                                            R"(
__global__ void blend_two(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ out, float t, int n) {
  const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 2; ++i) {
    )" + skip + R"(
    if (i < n) out[i] = a[i] + t * (b[i] - a[i]);
  }
})",
                                            {"ceil_div(n, 2 * block_x)", "1", "1"},
                                            {},
                                            "n >= 1 && t != 0 && disjoint(a, 4 * n, out, 4 * n) && "
                                            "disjoint(b, 4 * n, out, 4 * n) && " +
                                                Covers("n"),
                                            {}})};
  return swapped;
}

SwappedKernel Stencil() {
  SwappedKernel swapped;
  swapped.kernel = MakeKernel("stencil", {Pointer("in", "const float *"), Pointer("out", "float *"),
                                          Int("width"), Int("height")});
  swapped.variants = {MakeVariant(
      "stencil",
      {"stencil_rows",
       R"(
__device__ float around(const float* in, int i, int width) {
  return 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
__global__ void stencil_rows(const float* __restrict__ in, float* __restrict__ out, int width,
                             int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const int y = (blockIdx.y * 4 + k) * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    const bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    out[i] = edge ? in[i] : around(in, i, width);
  }
})",
       {"ceil_div(width, 32)", "ceil_div(height, 32)", "1"},
       {"32", "8", "1"},
       "width >= 1 && height >= 1 && disjoint(in, 4 * width * height, out, 4 * width * height) && "
       "grid_x == ceil_div(width, block_x) && grid_y == ceil_div(height, block_y) && grid_z == 1 "
       "&& block_x == 32 && block_y == 8 && block_z == 1 && shared_bytes == 0",
       {}})};
  return swapped;
}

// Two launches and a workspace: a sum in another order.
SwappedKernel RowSum() {
  SwappedKernel swapped;
  swapped.kernel = MakeKernel("row_sum", {Pointer("m", "const float *"), Pointer("out", "float *"),
                                          Int("rows"), Int("columns")});
  SwappedVariant published;
  records::Variant& variant = published.variant;
  variant.kernel = "diff::row_sum";
  variant.source = R"(
__global__ void pieces(const float* m, float* partial, int rows, int columns, int count) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int each = (columns + count - 1) / count;
  const int first = static_cast<int>(blockIdx.y) * each;
  float sum = 0;
  for (int c = first; c < first + each && c < columns; ++c) sum += m[r * columns + c];
  partial[static_cast<int>(blockIdx.y) * rows + r] += sum;
}
__global__ void join(const float* partial, float* out, int rows, int count) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += partial[k * rows + r];
  out[r] = sum;
})";
  variant.workspace = {{"partial", "4 * rows * PIECES", true}};
  variant.values["PIECES"] = 4;
  Launch pieces;
  pieces.entry = "pieces";
  pieces.grid = {"ceil_div(rows, block_x)", "PIECES", "1"};
  pieces.arguments = {Json("m"), Json("partial"), Json("rows"), Json("columns"),
                      Json{{"type", "int"}, {"value", "PIECES"}}};
  Launch join;
  join.entry = "join";
  join.grid = {"ceil_div(rows, block_x)", "1", "1"};
  join.arguments = {Json("partial"), Json("out"), Json("rows"),
                    Json{{"type", "int"}, {"value", "PIECES"}}};
  variant.launches = {pieces, join};
  variant.id = records::VariantId(variant);
  published.guard =
      "rows >= 1 && columns >= 8 && disjoint(m, 4 * rows * columns, out, 4 * rows) && " +
      Covers("rows");
  swapped.variants = {published};
  return swapped;
}

SwappedKernel Histogram() {
  SwappedKernel swapped;
  swapped.kernel = MakeKernel("histogram", {Pointer("data", "const unsigned char *"),
                                            Pointer("bins", "unsigned int *"), Int("n")});
  swapped.variants = {
      MakeVariant("histogram", {"histogram_shared",
                                R"(
__global__ void histogram_shared(const unsigned char* data, unsigned int* bins, int n) {
  __shared__ unsigned int local[256];
  for (int t = threadIdx.x; t < 256; t += blockDim.x) local[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i]], 1u);
  }
  __syncthreads();
  for (int t = threadIdx.x; t < 256; t += blockDim.x) {
    if (local[t] != 0) atomicAdd(&bins[t], local[t]);
  }
})",
                                {"min(ceil_div(n, block_x), sm_count)", "1", "1"},
                                {},
                                "n >= 1 && disjoint(bins, 1024, data, n) && " + Covers("n"),
                                {}})};
  return swapped;
}

// One variant where there is a bias and one where there is none.
SwappedKernel Gather() {
  SwappedKernel swapped;
  swapped.kernel =
      MakeKernel("gather", {Pointer("table", "const float *"), Pointer("index", "const int *"),
                            Pointer("bias", "const float *"), Pointer("out", "float *"), Int("n")});
  const std::string apart =
      "n >= 1 && disjoint(table, 1024, out, 4 * n) && disjoint(index, 4 * n, out, 4 * n) && ";
  const auto body = [](const std::string& name, const std::string& bias) {
    return "__global__ void " + name +
           "(const float* table, const int* index, const float* bias, float* out, int n) {\n"
           "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
           "blockDim.x) {\n    out[i] = __ldg(table + index[i]) + " +
           bias + ";\n  }\n}";
  };
  swapped.variants = {
      MakeVariant("gather", {"gather_biased",
                             body("gather_biased", "bias[i]"),
                             {"ceil_div(grid_x, 2)", "1", "1"},
                             {},
                             apart + "disjoint(bias, 4 * n, out, 4 * n) && " + Covers("n"),
                             {}}),
      MakeVariant("gather", {"gather_plain",
                             body("gather_plain", "0.0f"),
                             {"ceil_div(grid_x, 2)", "1", "1"},
                             {},
                             apart + "is_null(bias) && n % 2 == 0 && " + Covers("n"),
                             {}})};
  return swapped;
}

SwappedKernel Affine() {
  SwappedKernel swapped;
  swapped.kernel =
      MakeKernel("affine", {Scalar("p", "diff::Params", ParameterKind::kOther, 12),
                            Pointer("in", "const float *"), Pointer("out", "float *")});
  swapped.variants = {
      MakeVariant("affine", {"affine_two",
                             R"(
__global__ void affine_two(Params p, const float* in, float* out) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= p.n) return;
  float2 v = *reinterpret_cast<const float2*>(in + i);
  v.x = p.scale * v.x + p.shift;
  v.y = p.scale * v.y + p.shift;
  *reinterpret_cast<float2*>(out + i) = v;
})",
                             {"ceil_div(p.n, 2 * block_x)", "1", "1"},
                             {},
                             "p.n >= 2 && p.n % 2 == 0 && aligned(in, 8) && aligned(out, 8) && "
                             "disjoint(in, 4 * p.n, out, 4 * p.n) && " +
                                 Covers("p.n"),
                             {}})};
  return swapped;
}

SwappedKernel Assign() {
  SwappedKernel swapped;
  swapped.kernel = MakeKernel(
      "assign", {Pointer("out", "double *"), Scalar("value", "double", ParameterKind::kFloating, 8),
                 Scalar("n", "long long", ParameterKind::kInteger, 8)});
  swapped.variants = {MakeVariant("assign", {"assign_stride",
                                             R"(
__global__ void assign_stride(double* out, double value, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (long long)blockDim.x) {
    out[i] = value;
  }
})",
                                             {"max(1, grid_x / 2)", "1", "1"},
                                             {},
                                             "n >= 1 && value < 1 && " + Covers("n"),
                                             {"double"}})};
  return swapped;
}

}  // namespace

SwapRequest DifferentialRequest(const std::string& source, const std::vector<std::string>& targets,
                                bool wrong) {
  SwapRequest request;
  request.source = source;
  request.unit = "differential";
  for (SwappedKernel swapped :
       {Saxpy(), Blend(wrong), Stencil(), RowSum(), Histogram(), Gather(), Affine(), Assign()}) {
    std::vector<SwappedVariant> all;
    for (const std::string& target : targets) {
      for (SwappedVariant variant : swapped.variants) {
        variant.target = target;
        all.push_back(std::move(variant));
      }
    }
    swapped.variants = std::move(all);
    request.kernels.push_back(std::move(swapped));
  }
  return request;
}

}  // namespace cupilot::source
