// What the hook decides, on a runtime that only records (recording_runtime/): no GPU, no toolkit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "swap_fixture.h"

namespace cupilot::source {
namespace {

class SwappedSourceBehaviour : public SwapFolder {
 protected:
  void Compile(const SwapRequest& request, const std::string& options,
               const std::string& program = "behaviour.cc") {
    const auto swapped = WriteSwappedSource(request);
    ASSERT_TRUE(swapped) << swapped.error().message;
    Write(*swapped);
    const std::string runtime =
        std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/daemon/source/swap/recording_runtime";
    // The runtime is included first, as nvcc does it.
    ASSERT_EQ(Run("g++ -g1 -fsanitize=undefined -fno-sanitize-recover=all -std=" + options +
                  " -Wno-attributes -I" + Quoted(runtime) + " -I. -include cuda_runtime.h -DHOOK=" +
                  swapped->hook + " -DSWAPPED='\"" + swapped->file_name + "\"' " +
                  Quoted(runtime + "/" + program) + " -o behaviour -pthread"),
              0)
        << Log();
  }

  SwapRequest Request(const std::string& target = "host-x86-64-v3") {
    SwapRequest request;
    request.source = Write("scale.cu", kScaleSource);
    request.unit = "app/scale.cu.o";
    SwappedKernel kernel;
    kernel.kernel = ScaleKernel();
    kernel.variants = {
        {PlainVariant(),
         target,
         {"a device"},
         "n % 2 == 0 && factor != 2 && aligned(in, 16) && disjoint(in, 4 * n, out, 4 * n)",
         "two",
         1.5},
        {StepsVariant(), target, {"a device"}, "n % 2 == 1 && n > 100", "steps", 1.2}};
    request.kernels = {kernel};
    return request;
  }
};

TEST_F(SwappedSourceBehaviour, DecidesEachLaunch) {
  for (const char* options : {"c++17 -DCUPILOT_TUNED_GRAPHS", "c++11", "c++20"}) {
    Compile(Request(), options);
    EXPECT_EQ(Run("./behaviour"), 0);
    EXPECT_EQ(Log(), "") << options;
  }
  for (const char* what : {"disabled", "\"other image\"", "\"other device\"", "\"block limit\"",
                           "refused", "devices", "\"no handle\""}) {
    EXPECT_EQ(Run(std::string("./behaviour ") + what), 0);
    EXPECT_EQ(Log(), "") << what;
  }
  EXPECT_EQ(Run("./behaviour statistics"), 0);
  EXPECT_EQ(Log(), "cupilot: app::scale: 1 launches tuned, 2 outside the guard, 1 captured\n");
}

TEST_F(SwappedSourceBehaviour, LaunchesByTheDriverWhereItCan) {
  Compile(Request(), "c++17 -DCUPILOT_DRIVER_ENTRIES");
  for (const char* what : {"", "refused", "devices", "contexts", "\"no context yet\""}) {
    EXPECT_EQ(Run(std::string("./behaviour ") + what), 0);
    EXPECT_EQ(Log(), "") << what;
  }
  // Nodes of graphs are the runtime's.
  Compile(Request(), "c++17 -DCUPILOT_DRIVER_ENTRIES -DCUPILOT_TUNED_GRAPHS");
  EXPECT_EQ(Run("./behaviour"), 0);
  EXPECT_EQ(Log(), "");
}

TEST_F(SwappedSourceBehaviour, ARefusedVariantLeavesNoTrace) {
  SwapRequest request = Request();
  std::swap(request.kernels[0].variants[0], request.kernels[0].variants[1]);
  request.kernels[0].variants[1].guard = "n > 0";
  Compile(request, "c++17 -DCUPILOT_DRIVER_ENTRIES");
  EXPECT_EQ(Run("./behaviour 'refused before'"), 0);
  EXPECT_EQ(Log(), "");
}

TEST_F(SwappedSourceBehaviour, KernelsAreGivenUpOneByOne) {
  SwapRequest request = Request();
  request.source = Write("scale.cu", std::string(kScaleSource) + R"(
namespace app {
__global__ void other(float factor, const float* in, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = factor - in[threadIdx.x];
}
}  // namespace app
)");
  request.kernels.push_back(request.kernels[0]);
  request.kernels[1].kernel.name = "app::other";
  request.kernels[1].kernel.base_name = "other";
  for (SwappedKernel& kernel : request.kernels) {
    kernel.variants.resize(1);
    records::Variant& variant = kernel.variants[0].variant;
    variant.kernel = kernel.kernel.name;
    variant.source += "// of " + kernel.kernel.name + "\n";
    variant.id = records::VariantId(variant);
  }
  Compile(request, "c++17 -DTWO_KERNELS");
  EXPECT_EQ(Run("./behaviour 'refused in turns'"), 0);
  EXPECT_EQ(Log(), "");
}

// Of which of them the launcher functions call the public function, what the runtime tells, and
// what is to be asked of the driver: tests/daemon/source/swap/recording_runtime/toolkit.h.
TEST_F(SwappedSourceBehaviour, DecidesAlikeWithEachToolkit) {
  const auto hook = WriteSwappedSource(Request("compute_90,sm_90"));
  ASSERT_TRUE(hook) << hook.error().message;
  const std::vector<std::pair<const char*, const char*>> toolkits = {
      {"11080", "c++11"},
      {"12000", "c++14"},
      {"12040", "c++17"},
      {"12090", "c++20"},
      {"13000 -D__NV_LEGACY_LAUNCH", "c++17"}};
  for (const auto& [toolkit, standard] : toolkits) {
    Compile(Request("compute_90,sm_90"),
            standard + Joined(HookDefinitions(hook->hook)) + " -DRECORDED_TOOLKIT=" + toolkit,
            "toolkits.cc");
    for (const char* what : {"", "clusters", "\"other image\"", "devices"}) {
      EXPECT_EQ(Run(std::string("./behaviour ") + what), 0) << toolkit << " " << what;
      EXPECT_EQ(Log(), "") << toolkit << " " << what;
    }
  }
}

TEST_F(SwappedSourceBehaviour, WritesItsCountsForProgramsWhereAFileIsNamed) {
  Compile(Request(), "c++17");
  EXPECT_EQ(Run("./behaviour statistics ./counts && ./behaviour statistics ./counts"), 0);
  EXPECT_EQ(Log(), "");
  EXPECT_EQ(Run("cat counts"), 0);
  const std::string line = "app::scale\t1\t2\t1\thost\n";
  EXPECT_EQ(Log(), line + line);
  // Where it cannot be written, people are told.
  EXPECT_EQ(Run("./behaviour statistics ./none/counts"), 0);
  EXPECT_EQ(Log(), "cupilot: app::scale: 1 launches tuned, 2 outside the guard, 1 captured\n");
}

TEST_F(SwappedSourceBehaviour, LeavesOutTheKernelsThatAreNamed) {
  Compile(Request(), "c++11");
  for (const char* list : {"app::scale", "app::other,app::scale", "app::scale,app::other<int, 4>",
                           "1", "yes", "ON", "True"}) {
    EXPECT_EQ(Run(std::string("./behaviour named '") + list + "'"), 0) << list << Log();
  }
  for (const char* list : {"0", "scale", "app::scale<int>,app::scale2", "an app::scale", ","}) {
    EXPECT_EQ(Run(std::string("./behaviour 'not named' '") + list + "'"), 0) << list << Log();
  }
}

TEST_F(SwappedSourceBehaviour, RefusesWhatIsNotArithmetic) {
  const auto refuses = [&](const std::function<void(SwapRequest&, records::Variant&)>& change) {
    SwapRequest request = Request();
    change(request, request.kernels[0].variants[1].variant);
    const auto written = WriteSwappedSource(request);
    return written ? std::string("(accepted)") : written.error().message;
  };
  using records::Json;
  using ::testing::HasSubstr;
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) {
                v.launches[0].arguments[2] = Json{{"type", "int); system(\"x\""}, {"value", "1"}};
              }),
              HasSubstr("is none of bool"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) {
                v.launches[0].arguments[2] = Json{{"type", "int"}, {"value", "system(1)"}};
              }),
              HasSubstr("system"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) { v.launches[0].arguments[0] = "x"; }),
              HasSubstr("unknown name 'x'"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) { v.launches[0].entry = "f(); g"; }),
              HasSubstr("is not a name"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) {
                v.launches[0].grid = {"nothing", "1", "1"};
              }),
              HasSubstr("unknown name 'nothing'"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) { v.launches[0].cooperative = true; }),
              HasSubstr("cooperative"));
  EXPECT_THAT(refuses([](SwapRequest&, records::Variant& v) { v.workspace[0].name = "a b"; }),
              HasSubstr("is not a name"));
  EXPECT_THAT(
      refuses([](SwapRequest& r, records::Variant&) { r.kernels[0].variants[0].guard = "n >"; }),
      HasSubstr("guard"));
  EXPECT_THAT(refuses([](SwapRequest& r, records::Variant&) { r.source = "/a\"b.cu"; }),
              HasSubstr("cannot stand"));
  EXPECT_THAT(refuses([](SwapRequest& r, records::Variant&) { r.kernels.clear(); }),
              HasSubstr("no kernel"));
}

// As the evaluator does: the launch's names, and tunables, hide parameters.
TEST_F(SwappedSourceBehaviour, TellsParametersFromWhatTheLaunchIsAsked) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  for (const char* name : {"grid_x", "block_x", "shared_bytes", "warp_size", "sm_count"}) {
    SwapRequest request = Request();
    SwappedKernel& kernel = request.kernels[0];
    kernel.kernel.parameters[3].name = name;
    kernel.variants.resize(1);
    kernel.variants[0].guard = "$3 % 2 == 0 && " + std::string(name) + " == 64";
    const auto written = WriteSwappedSource(request);
    ASSERT_TRUE(written) << written.error().message;
    std::string all;
    for (const SwappedText& file : written->Files()) all += file.text;
    const std::string parameter = "(long long)read<int >(l, 3)";
    const std::size_t first = all.find(parameter);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(all.find(parameter, first + 1), std::string::npos) << name;
  }
}

TEST_F(SwappedSourceBehaviour, TextDependsOnItsArgumentsOnly) {
  const auto first = WriteSwappedSource(Request());
  const auto second = WriteSwappedSource(Request());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->Files(), second->Files());
  SwapRequest other = Request();
  other.unit = "other/scale.cu.o";
  const auto third = WriteSwappedSource(other);
  ASSERT_TRUE(third);
  EXPECT_NE(first->hook, third->hook);  // one source in two libraries of one program
}

}  // namespace
}  // namespace cupilot::source
