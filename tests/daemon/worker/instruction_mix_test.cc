#include "worker/instruction_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::worker {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kListing = R"(
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS"
//--------------------- .text._Z5firstPf          --------------------------
	.section	.text._Z5firstPf,"ax",@progbits
	.align	128
.text._Z5firstPf:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/              @!P0 EXIT ;
        /*0030*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0040*/                   FFMA R4, R4, R5, R6 ;
        /*0050*/               @P1 FADD.FTZ R4, R4, R7 ;
        /*0060*/                   STS.64 [R8], R4 ;
        /*0070*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0080*/                   LDS R4, [R8] ;
        /*0090*/                   MUFU.RSQ R4, R4 ;
        /*00a0*/                   ATOMS.ADD RZ, [R8], R4 ;
        /*00b0*/                   HMMA.16816.F32 R8, R4, R6, R8 ;
.L_x_0:
        /*00c0*/                   BRA `(.L_x_0);
.text._Z6secondv:
        /*0000*/                   DFMA R4, R4, R6, R8 ;
        /*0010*/                   IMAD.WIDE R2, R0, 0x4, R2 ;
        /*0020*/                   F2F.F32.F64 R4, R4 ;
        /*0030*/                   STL [R1], R4 ;
        /*0040*/                   SHFL.DOWN PT, R5, R4, 0x10, 0x1f ;
        /*0050*/                   SHF.R.U32.HI R5, RZ, 0x5, R0 ;
        /*0060*/                   LDGDEPBAR ;
        /*0070*/                   REDUX.SUM UR4, R0 ;
)";

TEST(InstructionMix, CountsByKernelAndClass) {
  const InstructionMix mix = MixOf(kListing);
  ASSERT_EQ(mix.size(), 2u);
  EXPECT_THAT(mix.at("_Z5firstPf"),
              UnorderedElementsAre(Pair("constant", 1), Pair("other", 1), Pair("control", 2),
                                   Pair("global", 1), Pair("fp32", 2), Pair("shared", 2),
                                   Pair("barrier", 1), Pair("special", 1), Pair("atomic", 1),
                                   Pair("tensor", 1)));
  EXPECT_THAT(mix.at("_Z6secondv"),
              UnorderedElementsAre(Pair("fp64", 1), Pair("integer", 2), Pair("shuffle", 2),
                                   Pair("barrier", 1), Pair("convert", 1), Pair("local", 1)));
}

TEST(InstructionMix, NothingInIsNothingOut) {
  EXPECT_TRUE(MixOf("").empty());
  EXPECT_TRUE(MixOf("/*0000*/ FADD R0, R0, R0 ;").empty());
}

TEST(InstructionMix, WithoutTheToolItSaysWhich) {
  const auto mix = InstructionMixOf("a.cubin", {"/nonexistent"}, "/nonexistent");
  ASSERT_FALSE(mix);
  EXPECT_EQ(mix.error().code, base::ErrorCode::kUnavailable);
  EXPECT_THAT(mix.error().message, ::testing::HasSubstr("nvdisasm"));
}

}  // namespace
}  // namespace cupilot::worker
