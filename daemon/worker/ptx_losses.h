// Instructions of PTX that lose precision because somebody asked for it: what a candidate has and
// its original has not is forbidden (evaluate/new_losses.h), since no tolerance sees it for
// certain.
//
// PTX, not the GPU's own code: there every exact division, square root and sine consists of
// approximate instructions (MUFU) and what mends them. In PTX they are one instruction (div.rn.f32)
// or libdevice's functions, which are inlined: of these
//   ex2.approx(.ftz)   expf exp2f exp10f expm1f sinhf coshf tanhf erff cbrtf, double tanh cbrt
//   lg2.approx(.ftz)   cbrtf rcbrtf erfinvf erfcinvf normcdfinvf, double cbrt
//   rcp.approx.ftz     tanf atanf asinhf atanhf powf tanhf erfcf tgammaf fmodf; double log pow
//   lgamma rsqrt.approx       rsqrtf rhypotf asinf acosf acoshf j0f, double rsqrt div.approx fmodf
//   remainderf remquof tgammaf sinhf coshf erfcxf
// prove nothing alone, and are not looked at: the names of what a source may not call are
// (source/whitelist_rules.h). The headers of half and bfloat16 numbers have further ones
// (sqrt.approx, tanh.approx, rcp.approx.f32) whose results they round anyway; so no approximation
// counts where a kernel rounds to such a format.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cupilot::worker {

// By kind an instruction of it. Kinds: a format that results are rounded to, or operands of a
// product ("f16" "bf16" "tf32" "e4m3" ...); "approximate": sines, cosines, hyperbolic tangents,
// square roots, reciprocals and quotients; "ftz": arithmetic that flushes what is tiny to zero.
using Losses = std::map<std::string, std::string>;
inline constexpr const char* kApproximate = "approximate";
inline constexpr const char* kFlushes = "ftz";

// By kernel, as the PTX names it, with what the functions do that it calls. Kernels without any are
// left out. Pure; any text may come.
std::map<std::string, Losses> LossesOf(std::string_view ptx);

}  // namespace cupilot::worker
