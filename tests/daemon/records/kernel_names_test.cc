// What people may call a kernel.
#include <gtest/gtest.h>

#include "records/kernel.h"

namespace cupilot::records {
namespace {

TEST(KernelNames, TheLabelOrWhatItEndsWith) {
  const std::string label = "image::blur<float, 4>";
  for (const char* name : {"image::blur<float, 4>", "blur<float,4>", "image::blur", "blur"}) {
    EXPECT_TRUE(NamesKernel(name, label)) << name;
  }
  for (const char* name : {"", "lur", "blur<float>", "blur<double, 4>", "other::blur"}) {
    EXPECT_FALSE(NamesKernel(name, label)) << name;
  }
}
TEST(KernelNames, AlsoWithTheArgumentsAsCodeHasThem) {
  Kernel kernel;
  kernel.name = "solver::smooth";
  kernel.template_arguments = {"float", "static_cast<solver::Boundary>(1)"};
  kernel.label = "solver::smooth<float, solver::Boundary::kInsulated>";
  for (const char* name : {"smooth", "smooth<float, solver::Boundary::kInsulated>",
                           "smooth<float, static_cast<solver::Boundary>(1)>",
                           "solver::smooth<float,static_cast<solver::Boundary>(1)>"}) {
    EXPECT_TRUE(NamesKernel(name, kernel)) << name;
  }
  EXPECT_FALSE(NamesKernel("smooth<float, static_cast<solver::Boundary>(0)>", kernel));
  EXPECT_FALSE(NamesKernel("smooth<float, solver::Boundary::kFixed>", kernel));
}

}  // namespace
}  // namespace cupilot::records
