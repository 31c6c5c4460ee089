// What speaks against an entry of a lock file when it is proven again.
#include "service/lock_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/make_lock.h"

namespace cupilot::service {
namespace {

using test::MakeLockedKernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kHost = "host-x86-64-v3";

records::Kernel ScannedFor(const records::LockedKernel& entry) {
  records::Kernel kernel;
  kernel.name = entry.kernel;
  kernel.namespaces = entry.namespaces;
  kernel.parameters = entry.parameters;
  kernel.cases = entry.workload.cases;
  return kernel;
}

TEST(LockProof, TheSourceSaysWhatTheEntryMaySay) {
  const records::LockedKernel entry = MakeLockedKernel("blur", kHost);
  const records::Kernel good = ScannedFor(entry);
  EXPECT_EQ(WhyKernelDiffers(entry, good), "");
  records::Kernel kernel = good;
  kernel.parameters[0].kind = records::ParameterKind::kOther;
  EXPECT_THAT(WhyKernelDiffers(entry, kernel), HasSubstr("parameters are not the source's"));
  kernel = good;
  kernel.namespaces = {"other"};
  EXPECT_THAT(WhyKernelDiffers(entry, kernel), HasSubstr("scope"));
  kernel = good;
  kernel.declined = "k.cu:1: a texture";
  EXPECT_EQ(WhyKernelDiffers(entry, kernel), "k.cu:1: a texture");
}

TEST(LockProof, TheTagSaysWhatItIsRunOn) {
  records::LockedKernel entry = MakeLockedKernel("blur", kHost);
  records::Kernel kernel = ScannedFor(entry);
  kernel.cases[0].grid = {"2", "1", "1"};
  EXPECT_THAT(WhyKernelDiffers(entry, kernel), HasSubstr("workload"));
  kernel.cases.push_back(entry.workload.cases[0]);  // one of several: the other ran too long
  EXPECT_EQ(WhyKernelDiffers(entry, kernel), "");
  entry.workload.tolerance.emplace().relative = 1.0;
  EXPECT_THAT(WhyKernelDiffers(entry, kernel), HasSubstr("tolerance"));
  entry.workload.tolerance->bitwise = true;  // NUMERICS bitwise: more than the tag asks for
  EXPECT_EQ(WhyKernelDiffers(entry, kernel), "");
  kernel.cases.clear();  // recorded, not tagged
  EXPECT_EQ(WhyKernelDiffers(entry, kernel), "");
}

TEST(LockProof, TheEvidenceMustSayTheSame) {
  records::LockedKernel entry = MakeLockedKernel("blur", kHost);
  records::Evaluation evaluation = entry.evaluation;
  EXPECT_EQ(WhyNotProven(entry, evaluation).value(), "");
  entry.evaluation.guard = "1";
  EXPECT_THAT(WhyNotProven(entry, evaluation).value(), HasSubstr("guard"));
  evaluation.target = "host-another";
  const auto other = WhyNotProven(entry, evaluation);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, base::ErrorCode::kUnavailable);
  evaluation.accepted = false;
  evaluation.reason = "wrong_values";
  evaluation.detail = "out[3]";
  EXPECT_EQ(WhyNotProven(entry, evaluation).value(), "wrong_values: out[3]");
}

TEST(LockProof, CompilesForTheEntrysTarget) {
  LockedPlace place{MakeLockedKernel("blur", "compute_90,sm_90"), {"/p", "/p", "/p/build"}};
  EXPECT_THAT(
      CommandOf(place, "nvcc").arguments,
      ElementsAre("nvcc", "-O3", "-gencode=arch=compute_90,code=sm_90", "-c", "/p/src/blur.cu"));
  place.entry.target = "compute_80,sm_90";  // what the driver makes of PTX
  EXPECT_EQ(CommandOf(place, "nvcc").arguments[2], "-gencode=arch=compute_80,code=compute_80");
  place.entry.target = kHost;
  EXPECT_THAT(CommandOf(place, "nvcc").arguments,
              ElementsAre("nvcc", "-O3", "-c", "/p/src/blur.cu"));
  EXPECT_TRUE(CheckArchitecture(MakeLockedKernel("blur", "compute_80,sm_90"), "sm_90"));
  EXPECT_FALSE(CheckArchitecture(MakeLockedKernel("blur", "compute_80,sm_90"), "sm_80"));
  EXPECT_TRUE(CheckArchitecture(MakeLockedKernel("blur", kHost), kHost));
}

TEST(LockProof, TheProjectIsWhereThePathsLead) {
  records::LockedKernel entry = MakeLockedKernel("blur", kHost);
  const auto read = [&] {
    return ReadLockedPlace({{"entry", records::ToJson(entry)}, {"lock_folder", "/p/locks"}});
  };
  EXPECT_EQ(read()->folders.source, "/p/locks");
  entry.flags.push_back("-I../include");
  EXPECT_EQ(read()->folders.source, "/p");
  EXPECT_EQ(read()->folders.build, "/p/build");
  EXPECT_FALSE(ReadLockedPlace({{"entry", 3}}));
  EXPECT_FALSE(ReadLockedPlace(records::Json::object()));
}

}  // namespace
}  // namespace cupilot::service
