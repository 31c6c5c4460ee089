// NVRTC as toolkits before 13 bring it, made up: it opens its builtins by their name alone.
#include "device/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::device::cuda {
namespace {

constexpr const char* kLibrary = R"(
#include <dlfcn.h>
#include <cstring>
extern "C" {
const char* nvrtcGetErrorString(int) { return "BUILTIN_OPERATION_FAILURE"; }
int nvrtcVersion(int* major, int* minor) { return *major = 11, *minor = 8, 0; }
int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*,
                       const char* const*) { return 0; }
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int, const char* const*) {
  return dlopen("libnvrtc-builtins.so.11.8", RTLD_NOW) != nullptr ? 0 : 7;
}
int nvrtcGetCUBINSize(void*, unsigned long* bytes) { return *bytes = 5, 0; }
int nvrtcGetCUBIN(void*, char* cubin) { return std::memcpy(cubin, "cubin", 5), 0; }
int nvrtcGetPTXSize(void*, unsigned long* bytes) { return *bytes = 3, 0; }
int nvrtcGetPTX(void*, char* ptx) { return std::memcpy(ptx, "ptx", 3), 0; }
int nvrtcGetProgramLogSize(void*, unsigned long* bytes) { return *bytes = 0, 0; }
int nvrtcGetProgramLog(void*, char*) { return 0; }
}
)";

class NvrtcTest : public ::testing::Test {
 protected:
  // FOLDER/lib64/NAME of this text.
  void Make(const std::string& name, const std::string& text) {
    const std::string source = folder_.Write(name + ".cc", text);
    folder_.Write("lib64/log", "");
    test::RunOptions options;
    options.folder = folder_.path();
    const auto run = test::RunProgram({"g++", "-shared", "-fPIC", "-Wl,-soname," + name, source,
                                       "-o", folder_ / ("lib64/" + name), "-ldl"},
                                      options);
    ASSERT_EQ(run.exit_code, 0) << run.errors;
  }
  test::TemporaryFolder folder_;
};

TEST_F(NvrtcTest, OfToolkit11FindsItsBuiltinsBesideIt) {
  Make("libnvrtc.so.11.2", kLibrary);
  Make("libnvrtc-builtins.so.11.8", "");
  const auto nvrtc = OpenNvrtc(folder_.path());
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ(nvrtc->version, "11.8");
  const auto result = CompileWithNvrtc(*nvrtc, "", {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->cubin, "cubin");
}

}  // namespace
}  // namespace cupilot::device::cuda
