// Each technique on kernels that it can rewrite and on one that it declines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

#include "search/techniques.h"
#include "source/rewrite/technique.h"
#include "source/rewrite/techniques.h"
#include "source/twin.h"
#include "source/whitelist.h"
#include "tests/daemon/source/rewrite/technique_cases.h"
#include "tests/daemon/source/scan_fixture.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

class TechniquesTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() {
    kernels_.clear();
    DropSourceTreeToolkit();
  }

  static records::StrategyStep StepOf(const std::string& technique, const Json& parameters) {
    records::StrategyStep step;
    step.technique = technique;
    step.parameters = parameters;
    return step;
  }

  // Each is scanned once: it takes longer than what is tested here.
  const records::Kernel& KernelOf(const TechniqueCase& one) const {
    const auto found = kernels_.find(one.kernel);
    if (found != kernels_.end()) return found->second;
    return kernels_[one.kernel] = OneKernel(one.source);
  }

  protocol::RewriteReply RewriteWith(const records::Kernel& kernel,
                                     const TechniqueCase& one) const {
    protocol::RewriteRequest request;
    request.kernel = kernel;
    request.workload = kernel.cases.front();
    request.device = "host";
    request.strategy.steps.push_back(StepOf(one.technique, Json::parse(one.parameters)));
    const auto reply = Rewrite(request);
    EXPECT_TRUE(reply) << one.technique << ", " << one.name << ": " << reply.error().message;
    return reply.value_or(protocol::RewriteReply{});
  }

  static protocol::Proposal OpinionOf(const records::Kernel& kernel, const std::string& technique,
                                      const std::string& device) {
    const auto reply = Propose({kernel, kernel.cases.front(), device});
    EXPECT_TRUE(reply);
    for (const protocol::Proposal& proposal : reply->proposals) {
      if (proposal.technique == technique) return proposal;
    }
    ADD_FAILURE() << "no opinion of " << technique;
    return {};
  }

  static std::map<std::string, records::Kernel> kernels_;
};
std::map<std::string, records::Kernel> TechniquesTest::kernels_;

TEST_F(TechniquesTest, EachRewritesTwoKernelsAndDeclinesOne) {
  for (const TechniqueCase& one : TechniqueCases()) {
    SCOPED_TRACE(std::string(one.technique) + ", " + one.name);
    const records::Kernel& kernel = KernelOf(one);
    ASSERT_FALSE(kernel.cases.empty());
    const protocol::RewriteReply reply = RewriteWith(kernel, one);
    EXPECT_EQ(reply.declined, one.declines) << reply.reason;
    if (one.declines) {
      EXPECT_THAT(reply.reason, HasSubstr(one.expected));
      continue;
    }
    if (reply.declined) continue;
    ASSERT_EQ(reply.variant.launches.size(), 1u);
    const std::string geometry = Json(reply.variant.launches[0].block).dump();
    EXPECT_THAT(reply.variant.source + geometry, HasSubstr(one.expected));
    EXPECT_FALSE(reply.strategy.title.empty());
    const auto check = CheckVariant({kernel, reply.variant});
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_TRUE(check->passed) << check->reason << ": " << check->detail << "\n"
                               << reply.variant.source;
  }
}

TEST_F(TechniquesTest, OpinionsAreThoseOfTheRewrites) {
  for (const TechniqueCase& one : TechniqueCases()) {
    SCOPED_TRACE(std::string(one.technique) + ", " + one.name);
    const records::Kernel& kernel = KernelOf(one);
    ASSERT_FALSE(kernel.cases.empty());
    const protocol::Proposal opinion = OpinionOf(kernel, one.technique, "cuda");
    EXPECT_EQ(opinion.applies, !one.declines) << opinion.reason;
    if (one.declines) {
      EXPECT_THAT(opinion.reason, HasSubstr(one.expected));
    }
    for (const Json& parameters : opinion.parameters) {
      EXPECT_TRUE(search::CheckStep(StepOf(one.technique, parameters))) << parameters;
    }
  }
}

TEST_F(TechniquesTest, EachTechniqueHasItsThreeKernels) {
  std::map<std::string, int> rewrites, declines;
  for (const TechniqueCase& one : TechniqueCases()) {
    (one.declines ? declines : rewrites)[one.technique] += 1;
  }
  for (const RewriteTechnique& technique : RewriteTechniques()) {
    EXPECT_NE(search::FindTechnique(technique.name), nullptr) << technique.name;
    if (technique.propose == nullptr) continue;  // a test of its own
    EXPECT_GE(rewrites[technique.name], 2) << technique.name;
    EXPECT_GE(declines[technique.name], 1) << technique.name;
  }
}

TEST_F(TechniquesTest, ASizeClassAddsToTheGuardAlone) {
  const records::Kernel kernel = OneKernel(R"(
// cupilot: tune
// cupilot: workload w grid=4 block=64 n=256 m=2 in=normal[n] out=[n]
__global__ void negated(const float* in, float* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -in[i] * m;
}
)");
  protocol::RewriteRequest request;
  request.kernel = kernel;
  request.workload = kernel.cases.front();
  request.device = "host";
  request.strategy.steps = {StepOf("restrict_readonly", {{"loads", "restrict"}})};
  const auto everywhere = Rewrite(request);
  ASSERT_TRUE(everywhere);
  ASSERT_FALSE(everywhere->declined) << everywhere->reason;
  const auto with = [&](const Json& guard) {
    request.strategy.steps.resize(1);
    request.strategy.steps.push_back(StepOf("size_class", {{"guard", guard}}));
    return Rewrite(request).value_or(protocol::RewriteReply{});
  };
  const protocol::RewriteReply large = with("n * m >= 512 && grid_x > 2");
  ASSERT_FALSE(large.declined) << large.reason;
  records::Variant expected = everywhere->variant;
  expected.guard += (expected.guard.empty() ? "(" : " && (");
  expected.guard += "n * m >= 512 && grid_x > 2)";
  expected.strategy = large.strategy;
  expected.id = records::VariantId(expected);
  EXPECT_EQ(large.variant, expected);
  EXPECT_THAT(large.strategy.title, HasSubstr("for launches with n * m >= 512"));
  EXPECT_THAT(with("in > 0").reason, HasSubstr("'in' says nothing of a size"));
  EXPECT_THAT(with("sm_count > 8").reason, HasSubstr("says nothing of a size"));
  EXPECT_THAT(with("n >").reason, HasSubstr("guard"));
  EXPECT_THAT(with(4).reason, HasSubstr("an expression is needed"));
  const auto proposed = Propose({kernel, kernel.cases.front(), "host"});
  ASSERT_TRUE(proposed);
  for (const protocol::Proposal& proposal : proposed->proposals) {
    EXPECT_NE(proposal.technique, "size_class");
  }
}

// Only what is the parameter itself: what lies behind its pointers is the threads' work.
TEST_F(TechniquesTest, ABodyIsRepeatedOnlyWhereItLeavesItsParametersAlone) {
  const char* head = R"(
struct Box { float* cells; int count; float weights[2]; __device__ void Grow() { ++count; }
             __device__ int Count() const { return count; } };
__device__ void Lower(int& value) { --value; }
__device__ void LowerBehind(int* value) { --*value; }
// cupilot: tune
__global__ void k(Box box, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
)";
  const auto reason = [&](const records::Kernel& kernel, const std::string& technique,
                          const std::string& parameters) {
    protocol::RewriteRequest request;
    request.kernel = kernel;
    request.workload.grid = {"64", "1", "1"};
    request.workload.block = {"64", "1", "1"};
    request.device = "cuda";
    request.strategy.steps.push_back(StepOf(technique, Json::parse(parameters)));
    const auto reply = Rewrite(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? reply->reason : "none";
  };
  const struct {
    const char* body;
    const char* reason;
  } kBodies[] = {
      {"if (i < n) box.cells[i] = in[i] * box.weights[0] + box.Count();", ""},
      {"box.count -= 1; if (i < box.count) box.cells[i] = in[i];", "changes its parameter 'box'"},
      {"box.weights[i % 2] = 1; box.cells[i] = in[i];", "changes its parameter 'box'"},
      {"box.Grow(); if (i < n) box.cells[i] = in[i];", "changes its parameter 'box'"},
      {"Lower(n); if (i < n) box.cells[i] = in[i];", "changes its parameter 'n'"},
      {"LowerBehind(&n); if (i < n) box.cells[i] = in[i];", "address of its parameter 'n'"},
      {"int& m = n; m -= 1; if (i < m) box.cells[i] = in[i];", "address of its parameter 'n'"},
      {"in += i; box.cells[i] = *in;", "changes its parameter 'in'"},
      {"for (int k = 0; k < 9; ++k) if (k == i) return; box.cells[i] = in[i];",
       "returns from inside a loop"},
  };
  for (const auto& [body, expected] : kBodies) {
    SCOPED_TRACE(body);
    const records::Kernel kernel = OneKernel(std::string(head) + body + "\n}\n");
    for (const std::string& why :
         {reason(kernel, "thread_coarsening", R"({"form":"sequential","x":4})"),
          reason(kernel, "grid_stride", R"({"blocks_per_sm":2})")}) {
      EXPECT_THAT(why, HasSubstr(expected));
      EXPECT_EQ(why.empty(), std::string(expected).empty());
    }
  }
}

TEST_F(TechniquesTest, ABlockStaysWithinTheKernelsOwnLaunchBounds) {
  for (const char* bounds : {"64", " 8*8 ", "64, 2"}) {
    SCOPED_TRACE(bounds);
    const records::Kernel kernel = OneKernel(std::string(R"(
// cupilot: tune
// cupilot: workload w grid=64 block=64 in=normal[4096] out=[4096]
__global__ void __launch_bounds__()") + bounds +
                                             R"() k(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = -in[i];
}
)");
    const protocol::Proposal opinion = OpinionOf(kernel, "block_size", "cuda");
    const bool plain = std::string(bounds).find('*') == std::string::npos;
    EXPECT_EQ(opinion.applies, plain) << opinion.reason;
    EXPECT_EQ(opinion.parameters.empty(), !plain);
    for (const Json& shape : opinion.parameters) EXPECT_LE(shape["x"].get<int>(), 64);
    TechniqueCase one{"block_size", "", "", "", R"({"x":128})", ""};
    const protocol::RewriteReply larger = RewriteWith(kernel, one);
    EXPECT_TRUE(larger.declined);
    EXPECT_THAT(larger.reason, HasSubstr("launch bounds"));
  }
}

// A multiprocessor has 65536 registers: 128 for each of 512 threads, 64 for each of 1024. What is
// loaded ahead takes most of them.
TEST_F(TechniquesTest, LargeBlocksThatCountFitTheRegisters) {
  const records::Kernel kernel = OneKernel(R"(
// cupilot: tune
// cupilot: workload w grid=4096 block=256 n=1048576 u=normal[n] v=normal[n] bins=inout constant(0)[256]
__global__ void k(const float* u, const float* v, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float speed = sqrt(u[i] * u[i] + v[i] * v[i]);
  atomicAdd(&bins[static_cast<unsigned char>(speed * 99)], 1u);
}
)");
  const auto source = [&](int block) {
    protocol::RewriteRequest request;
    request.kernel = kernel;
    request.workload = kernel.cases.front();
    request.device = "cuda";
    const Json parameters = {
        {"scope", "block"}, {"items", 64}, {"width", 4}, {"copies", 8}, {"block", block}};
    request.strategy.steps.push_back(StepOf("private_atomics", parameters));
    const auto reply = Rewrite(request);
    EXPECT_TRUE(reply && !reply->declined) << (reply ? reply->reason : reply.error().message);
    return reply ? reply->variant.source : "";
  };
  EXPECT_THAT(source(512), HasSubstr("__launch_bounds__(512) k_variant("));
  EXPECT_THAT(source(256), Not(HasSubstr("__launch_bounds__")));
  // Two arrays, 16 bytes a load.
  EXPECT_THAT(source(512), HasSubstr("float4 cupilot_loaded_of_u[4]"));
}

TEST_F(TechniquesTest, TheTableSaysWhatIsRewritten) {
  std::set<std::string_view> rewritten;
  for (const RewriteTechnique& technique : RewriteTechniques()) rewritten.insert(technique.name);
  for (const search::Technique& technique : search::Techniques()) {
    EXPECT_EQ(technique.mechanical, rewritten.count(technique.name) > 0) << technique.name;
  }
}

// What is an error in C++17.
TEST_F(TechniquesTest, AKernelIsReadInItsOwnStandard) {
  const records::Kernel kernel = OneKernel(R"(
template <class T> requires(sizeof(T) >= 4)
__device__ T Twice(T value) { return value + value; }
// cupilot: tune
// cupilot: workload w grid=64 block=64 in=normal[4096] out=[4096]
__global__ void k(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Twice(in[i]);
}
)",
                                           {"-O3", "-std=c++20"});
  EXPECT_EQ(kernel.declined, "");
  ASSERT_FALSE(kernel.cases.empty());
  TechniqueCase one{"block_size", "", "", "", R"({"x":32})", ""};
  const protocol::RewriteReply reply = RewriteWith(kernel, one);
  EXPECT_FALSE(reply.declined) << reply.reason;
  const auto check = CheckVariant({kernel, reply.variant});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->passed) << check->detail;
  const auto twin = Twin({kernel});
  ASSERT_TRUE(twin) << twin.error().message;
  EXPECT_FALSE(twin->declined) << twin->reason;
}

TEST_F(TechniquesTest, PartsAreOnlyForSumsThatDoNotDependOnTheirOrder) {
  const auto with = [&](const std::string& body) {
    TechniqueCase one{"unrolling", "", "", "", R"({"factor":4,"accumulators":2})", ""};
    const records::Kernel kernel = OneKernel(R"(
// cupilot: tune
// cupilot: workload w grid=1 block=32 n=40 in=normal[n] out=[32]
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
)" + body + "\n}\n");
    return RewriteWith(kernel, one).declined;
  };
  EXPECT_FALSE(with("float v = 0; for (int j = 0; j < n; ++j) v += in[j]; out[i] = v;"));
  EXPECT_FALSE(
      with("float v = 1; for (int j = 0; j < n; ++j) if (j != i) v *= in[j]; out[i] = v;"));
  EXPECT_FALSE(
      with("float v = 0; for (int j = 0; j < n; ++j) v = fmaf(in[j], in[j], v);"
           " out[i] = v;"));
  // An integer is cut off at each step.
  EXPECT_TRUE(with("int v = 0; for (int j = 0; j < n; ++j) v += in[j]; out[i] = v;"));
  // Its value on the way is used, as a value, as a condition, as its own argument.
  EXPECT_TRUE(with("float v = 0; for (int j = 0; j < n; ++j) { v += in[j]; out[i] = v; }"));
  EXPECT_TRUE(with("float v = 0; for (int j = 0; j < n; ++j) if (v < 1) v += in[j]; out[i] = v;"));
  EXPECT_TRUE(with("float v = 1; for (int j = 0; j < n; ++j) v += v * in[j]; out[i] = v;"));
  EXPECT_TRUE(with("float v = 1; for (int j = 0; j < n; ++j) v = in[j] - v; out[i] = v;"));
  // Two ways of changing it.
  EXPECT_TRUE(
      with("float v = 0; for (int j = 0; j < n; ++j) { v += in[j]; v *= 0.5f; }"
           " out[i] = v;"));
}

TEST_F(TechniquesTest, TheHostHasNoUseForLaunchBounds) {
  for (const TechniqueCase& one : TechniqueCases()) {
    if (std::string(one.technique) != "launch_bounds" || one.declines) continue;
    const protocol::Proposal opinion = OpinionOf(KernelOf(one), one.technique, "host");
    EXPECT_FALSE(opinion.applies);
    EXPECT_THAT(opinion.reason, HasSubstr("no registers"));
  }
}

}  // namespace
}  // namespace cupilot::source
