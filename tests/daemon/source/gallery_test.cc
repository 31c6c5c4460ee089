// The kernels of the gallery, as users first write them, through what this folder makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "source/scan.h"
#include "source/twin.h"
#include "source/whitelist.h"
#include "tests/daemon/source/gallery_sources.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

class GalleryTest : public ::testing::Test {
 protected:
  struct Scanned {
    records::CompileCommand command;
    records::Kernel kernel;
  };

  // Scanned once: it takes longer than what is tested here.
  static void SetUpTestSuite() {
    UseSourceTreeToolkit();
    for (const std::string& source : GallerySources()) {
      protocol::ScanRequest request;
      request.command = CommandFor(source);
      const auto scan = Scan(request);
      ASSERT_TRUE(scan.has_value()) << source << ": " << scan.error().message;
      for (const records::Kernel& kernel : scan->kernels) {
        kernels_.push_back({request.command, kernel});
      }
    }
  }
  static void TearDownTestSuite() {
    kernels_.clear();
    DropSourceTreeToolkit();
  }

  static records::CompileCommand CommandFor(const std::string& source) {
    records::CompileCommand command;
    command.directory = std::filesystem::path(source).parent_path();
    command.arguments = {"nvcc", "-O3", "-std=c++17", "-c", source, "-o", "/dev/null"};
    command.source = source;
    return command;
  }

  static std::vector<Scanned> kernels_;
};
std::vector<GalleryTest::Scanned> GalleryTest::kernels_;

bool ComputesInFloat(const records::Kernel& kernel) {
  return kernel.closure_source.find("float") != std::string::npos;
}

TEST_F(GalleryTest, EveryKernelThatComputesInFloatHasATwin) {
  int twins = 0;
  int exact = 0;
  for (const auto& [command, kernel] : kernels_) {
    const auto twin = Twin({kernel});
    ASSERT_TRUE(twin.has_value()) << kernel.name << ": " << twin.error().message;
    EXPECT_EQ(twin->declined, !ComputesInFloat(kernel)) << kernel.name << ": " << twin->reason;
    (twin->declined ? exact : twins) += 1;
    if (twin->declined) continue;
    EXPECT_EQ(twin->widened.size(), kernel.parameters.size()) << kernel.name;
    EXPECT_GT(std::count(twin->widened.begin(), twin->widened.end(), true), 0) << kernel.name;
  }
  EXPECT_GE(twins, 9);
  EXPECT_GE(exact, 1);
}

TEST_F(GalleryTest, RetunedOriginalsPassTheWhitelist) {
  int retuned = 0;
  for (const auto& [command, kernel] : kernels_) {
    if (kernel.tunables.empty()) continue;
    protocol::RetuneRequest retune;
    retune.command = command;
    retune.kernel = kernel;
    for (const records::Tunable& tunable : kernel.tunables) {
      retune.values.emplace_back(tunable.name, tunable.values.front());
    }
    const auto reply = Retune(retune);
    ASSERT_TRUE(reply.has_value()) << kernel.name << ": " << reply.error().message;
    ASSERT_FALSE(reply->declined) << kernel.name << ": " << reply->reason;
    const auto check = CheckVariant({kernel, reply->variant});
    ASSERT_TRUE(check.has_value()) << kernel.name << ": " << check.error().message;
    EXPECT_TRUE(check->passed) << kernel.name << ": " << check->reason << ": " << check->detail
                               << "\n"
                               << reply->variant.source;
    ++retuned;
  }
  EXPECT_GE(retuned, 2);
}

}  // namespace
}  // namespace cupilot::source
