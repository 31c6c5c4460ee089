// Kernel templates: each instantiation that a source launches is a kernel of its own.
#include <algorithm>

#include "scan_fixture.h"

namespace cupilot::source {
namespace {

constexpr const char* kScaleTag =
    "// cupilot: tune\n"
    "// cupilot: workload w grid=(n/64) block=64 n=1024 in=uniform(0,1)[n] out=[n]\n";

class TemplatesTest : public ScanFixture {
 protected:
  static const records::Kernel* Find(const protocol::ScanReply& reply, const std::string& label) {
    for (const records::Kernel& kernel : reply.kernels) {
      if (records::LabelOf(kernel) == label) return &kernel;
    }
    return nullptr;
  }
  static std::string Labels(const protocol::ScanReply& reply) {
    std::string text;
    for (const records::Kernel& kernel : reply.kernels) {
      text += records::LabelOf(kernel) + ": " + kernel.declined + "\n";
    }
    return text;
  }
};

TEST_F(TemplatesTest, EachInstantiationIsAKernel) {
  const protocol::ScanReply reply = ScanText(std::string("namespace image {\n") + kScaleTag + R"(
template <typename T, int kTimes>
__global__ void scale(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * T(kTimes);
}
}
void run(const float* f, float* g, const unsigned* u, unsigned* v, int n) {
  image::scale<float, 3><<<n / 64, 64>>>(f, g, n);
  image::scale<unsigned, 5><<<n / 64, 64>>>(u, v, n);
})");
  ASSERT_EQ(reply.kernels.size(), 2u) << Labels(reply);
  const records::Kernel* floats = Find(reply, "image::scale<float, 3>");
  const records::Kernel* words = Find(reply, "image::scale<unsigned int, 5>");
  ASSERT_TRUE(floats != nullptr && words != nullptr) << Labels(reply);
  EXPECT_EQ(floats->declined, "");
  EXPECT_EQ(words->declined, "");
  EXPECT_EQ(floats->name, "image::scale");
  EXPECT_EQ(floats->template_arguments, (std::vector<std::string>{"float", "3"}));
  EXPECT_EQ(floats->parameters[0].element, "float");
  EXPECT_EQ(words->parameters[1].element, "unsigned int");
  EXPECT_NE(floats->key, words->key);
  EXPECT_NE(floats->signature, words->signature);
  ASSERT_EQ(floats->cases.size(), 1u);
  EXPECT_EQ(floats->cases[0].template_arguments, floats->template_arguments);
  // Two words cannot be called: T(5) is written another way.
  EXPECT_EQ(words->closure_source.find("unsigned int(5)"), std::string::npos);
}

TEST_F(TemplatesTest, EnumeratorsAreShownAsTheyAreWritten) {
  const protocol::ScanReply reply = ScanText(std::string(R"(namespace solver {
enum class Boundary { kFixed, kInsulated, kLast = kInsulated };
enum Order { kFirst = -1, kSecond };
)") + kScaleTag + R"(
template <class Real, Boundary kBoundary, Order kOrder>
__global__ void smooth(const Real* in, Real* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kBoundary == Boundary::kFixed && kOrder == kFirst ? 0 : in[i];
}
}
void run(const float* f, float* g, int n) {
  using namespace solver;
  smooth<float, Boundary::kInsulated, kFirst><<<n / 64, 64>>>(f, g, n);
  smooth<float, Boundary::kFixed, static_cast<Order>(5)><<<n / 64, 64>>>(f, g, n);
})");
  const records::Kernel* named =
      Find(reply, "solver::smooth<float, solver::Boundary::kInsulated, solver::kFirst>");
  ASSERT_NE(named, nullptr) << Labels(reply);
  EXPECT_EQ(named->declined, "");
  // In code it is as before, and so are its key and what was recorded of it.
  EXPECT_EQ(named->template_arguments,
            (std::vector<std::string>{"float", "static_cast<solver::Boundary>(1)",
                                      "static_cast<solver::Order>(-1)"}));
  EXPECT_TRUE(
      records::NamesKernel("smooth<float,solver::Boundary::kInsulated,solver::kFirst>", *named));
  // A value without a word.
  EXPECT_NE(
      Find(reply, "solver::smooth<float, solver::Boundary::kFixed, static_cast<solver::Order>(5)>"),
      nullptr)
      << Labels(reply);
}

TEST_F(TemplatesTest, ValuesStandInTheTagsExpressions) {
  const protocol::ScanReply reply = ScanText(R"(
// cupilot: tune
// cupilot: workload w grid=(n/kWidth) block=kWidth n=1024 in=uniform(0,1)[n] out=[n]
template <int kWidth>
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * kWidth + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void run(const float* f, float* g) { copy<128><<<8, 128>>>(f, g, 1024); })");
  const records::Kernel* kernel = Find(reply, "copy<128>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  ASSERT_EQ(kernel->declined, "");
  EXPECT_EQ(kernel->cases[0].block[0], "128");
  EXPECT_EQ(kernel->cases[0].grid[0], "8");
}

TEST_F(TemplatesTest, NothingLaunchesIt) {
  const protocol::ScanReply reply = ScanText(std::string(kScaleTag) + R"(
template <typename T>
__global__ void scale(const T* in, T* out, int n) { out[threadIdx.x] = in[threadIdx.x]; })");
  ASSERT_EQ(reply.kernels.size(), 1u);
  EXPECT_NE(reply.kernels[0].declined.find("nothing in this source launches"), std::string::npos)
      << reply.kernels[0].declined;
}

TEST_F(TemplatesTest, FunctionObjectsAreWritten) {
  const protocol::ScanReply reply = ScanText(std::string(R"(
// cupilot: tune
// cupilot: workload w grid=(n/64) block=64 n=1024 in=uniform(0,1)[n] out=[n] f={}
template <class F>
__global__ void map(const float* in, float* out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}
struct Square { __device__ float operator()(float x) const { return x * x; } };
void run(const float* f, float* g) { map<<<16, 64>>>(f, g, 1024, Square{}); })"));
  const records::Kernel* kernel = Find(reply, "map<Square>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  EXPECT_EQ(kernel->declined, "");
  ASSERT_EQ(kernel->cases.size(), 1u);
  EXPECT_EQ(kernel->cases[0].arguments[3].bytes, "AA==");
  // The type is declared behind the template, the kernel is written behind the type.
  EXPECT_LT(kernel->closure_source.find("struct Square"), kernel->closure_source.find("void map"));
}

TEST_F(TemplatesTest, PacksAreWrittenOut) {
  const protocol::ScanReply reply = ScanText(R"(
// cupilot: tune
// cupilot: workload w grid=(n/64) block=64 n=1024 out=[n] in_0=uniform(0,1)[n] in_1=uniform(0,1)[n]
template <typename... Ts>
__device__ float sum(Ts... xs) { return (0.0f + ... + xs); }
// cupilot: tune
// cupilot: workload w grid=(n/64) block=64 n=1024 out=[n] in_0=uniform(0,1)[n] in_1=uniform(0,1)[n]
template <typename... Ts>
__global__ void add(float* out, int n, const Ts*... in) {
  static_assert(sizeof...(Ts) == 2, "two");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sum(float(in[i])...) + (0.0f + ... + in[i]);
}
void run(float* g, const float* a, const int* b) { add<<<16, 64>>>(g, 1024, a, b); })");
  const records::Kernel* kernel = Find(reply, "add<float, int>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  EXPECT_EQ(kernel->declined, "") << kernel->closure_source;
  ASSERT_EQ(kernel->parameters.size(), 4u);
  EXPECT_EQ(kernel->parameters[3].name, "in_1");
  EXPECT_EQ(kernel->parameters[3].element, "int");
}

TEST_F(TemplatesTest, TheTakenBranchIsLeft) {
  const protocol::ScanReply reply = ScanText(std::string(kScaleTag) + R"(
template <typename T>
__global__ void scale(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (sizeof(T) == 8) {
    out[i] = in[i].no_member();
  } else if constexpr (sizeof(T) == 4)
    out[i] = in[i] * 2;
  else
    out[i] = T::none();
}
void run(const float* f, float* g) { scale<<<16, 64>>>(f, g, 1024); })");
  const records::Kernel* kernel = Find(reply, "scale<float>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  EXPECT_EQ(kernel->declined, "");
  EXPECT_EQ(kernel->closure_source.find("no_member"), std::string::npos);
  EXPECT_NE(kernel->closure_source.find("in[i] * 2"), std::string::npos);
}

// A call that means another function outside of the template must not be measured as the original.
TEST_F(TemplatesTest, OtherCalleesAreDeclined) {
  const protocol::ScanReply reply =
      ScanText(std::string("__device__ float weight(double) { return 2.0f; }\n") + kScaleTag + R"(
template <typename T>
__global__ void scale(const T* in, T* out, int n, typename T::none* = nullptr) {}
)" + kScaleTag +
               R"(
template <typename T>
__global__ void twice(const T* in, T* out, int n) {
  out[threadIdx.x] = in[threadIdx.x].value * weight(1.5f);
}
struct Cell { float value; __device__ Cell& operator=(float v) { value = v; return *this; } };
__device__ float weight(float) { return 3.0f; }
void run(const Cell* f, Cell* g) { twice<<<16, 64>>>(f, g, 1024); })");
  const records::Kernel* kernel = Find(reply, "twice<Cell>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  EXPECT_NE(kernel->declined.find("would call other functions"), std::string::npos)
      << kernel->declined << kernel->closure_source;
}

TEST_F(TemplatesTest, OverloadedKernelsAreToldApart) {
  const protocol::ScanReply reply = ScanText(std::string(kScaleTag) + R"(
__global__ void scale(const float* in, float* out, int n) { out[threadIdx.x] = in[threadIdx.x]; }
)" + kScaleTag + R"(
__global__ void scale(const int* in, int* out, int n) { out[threadIdx.x] = in[threadIdx.x] * 2; }
)");
  ASSERT_EQ(reply.kernels.size(), 2u);
  const records::Kernel* floats = Find(reply, "scale(const float *, float *, int)");
  const records::Kernel* words = Find(reply, "scale(const int *, int *, int)");
  ASSERT_TRUE(floats != nullptr && words != nullptr) << Labels(reply);
  EXPECT_EQ(floats->declined, "");
  EXPECT_EQ(floats->closure_source.find("* 2"), std::string::npos);
  EXPECT_NE(words->closure_source.find("* 2"), std::string::npos);
  EXPECT_NE(floats->key, words->key);
}

TEST_F(TemplatesTest, LongValuesKeepTheirType) {
  const protocol::ScanReply reply = ScanText(std::string(kScaleTag) + R"(
template <unsigned long kBig, bool kFlag, char kLetter>
__global__ void scale(const float* in, float* out, int n) {
  out[threadIdx.x] = kFlag ? in[0] * (kBig - 1ul) : float(kLetter);
}
void run(const float* f, float* g) { scale<1ul, true, 'a'><<<16, 64>>>(f, g, 1024); })");
  const records::Kernel* kernel = Find(reply, "scale<1, true, 97>");
  ASSERT_TRUE(kernel != nullptr) << Labels(reply);
  EXPECT_EQ(kernel->declined, "");
  EXPECT_NE(kernel->closure_source.find("(1ul - 1ul)"), std::string::npos)
      << kernel->closure_source;
  EXPECT_NE(kernel->closure_source.find("static_cast<char>(97)"), std::string::npos);
}

}  // namespace
}  // namespace cupilot::source
