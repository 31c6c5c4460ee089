#include "worker/peak_kernels.h"

namespace cupilot::worker {
namespace {

constexpr int kChains = 8;     // covers the latency of every pipe with some warps
constexpr int kUnrolled = 16;  // instructions of a chain in a round

constexpr const char* kMemoryKernels = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry cupilot_read(.param .u64 from, .param .u64 words, .param .u64 to)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [words];
  ld.param.u64 %d3, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  cvt.u64.u32 %d4, %r5;
  mul.wide.u32 %d5, %r4, %r2;
  mov.u32 %r6, 0;
again:
  setp.ge.u64 %p1, %d4, %d2;
  @%p1 bra done;
  shl.b64 %d6, %d4, 4;
  add.u64 %d6, %d1, %d6;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%d6];
  add.u32 %r6, %r6, %r7;
  add.u32 %r6, %r6, %r8;
  add.u32 %r6, %r6, %r9;
  add.u32 %r6, %r6, %r10;
  add.u64 %d4, %d4, %d5;
  bra again;
done:
  setp.ne.u32 %p2, %r6, 305419897;
  @%p2 bra out;
  st.global.u32 [%d3], %r6;
out:
  ret;
}
.visible .entry cupilot_write(.param .u64 to, .param .u64 words)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [words];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  cvt.u64.u32 %d3, %r5;
  mul.wide.u32 %d4, %r4, %r2;
again:
  setp.ge.u64 %p1, %d3, %d2;
  @%p1 bra out;
  shl.b64 %d5, %d3, 4;
  add.u64 %d5, %d1, %d5;
  st.global.v4.u32 [%d5], {%r5, %r5, %r5, %r5};
  add.u64 %d3, %d3, %d4;
  bra again;
out:
  ret;
}
.visible .entry cupilot_empty()
{
  ret;
}
)";

std::string Numbered(const std::string& pattern, int chain) {
  std::string text;
  for (const char c : pattern) text += c == '#' ? std::to_string(chain) : std::string(1, c);
  return text;
}

// `declare`: registers; `begin`: a chain's first value, another for each, from %r2; `step`: one
// instruction of a chain; `end`: the chain's value added to %r3. '#' is the chain's number.
struct Pattern {
  const char* target;
  const char* declare;
  const char* begin;
  const char* step;
  const char* end;
};

std::string TextOf(const Pattern& pattern, int chains) {
  std::string text = std::string(".version ") + (pattern.target[3] == '8' ? "7.0" : "6.3") +
                     "\n.target " + pattern.target + "\n.address_size 64\n" +
                     ".visible .entry cupilot_rate(.param .u32 rounds, .param .u32 seed, "
                     ".param .u64 to)\n{\n  .reg .pred %p<3>;\n  .reg .b32 %r<8>;\n"
                     "  .reg .b64 %d<2>;\n" +
                     pattern.declare +
                     "  ld.param.u32 %r1, [rounds];\n  ld.param.u32 %r2, [seed];\n"
                     "  ld.param.u64 %d1, [to];\n  mov.u32 %r3, 0;\n"
                     "  mov.u32 %r4, %tid.x;\n  add.u32 %r2, %r2, %r4;\n";
  for (int chain = 0; chain < chains; ++chain) text += Numbered(pattern.begin, chain);
  text += "again:\n";
  for (int i = 0; i < kUnrolled; ++i) {
    for (int chain = 0; chain < chains; ++chain) text += Numbered(pattern.step, chain);
  }
  text += "  add.s32 %r1, %r1, -1;\n  setp.gt.s32 %p1, %r1, 0;\n  @%p1 bra again;\n";
  for (int chain = 0; chain < chains; ++chain) text += Numbered(pattern.end, chain);
  // Never so, but the compiler does not know.
  text +=
      "  setp.ne.u32 %p2, %r3, 305419897;\n  @%p2 bra out;\n  st.global.u32 [%d1], %r3;\n"
      "out:\n  ret;\n}\n";
  return text;
}

constexpr Pattern kFp32 = {
    "sm_70", "  .reg .f32 %f<16>;\n", "  add.u32 %r5, %r2, #;\n  cvt.rn.f32.u32 %f#, %r5;\n",
    "  fma.rn.f32 %f#, %f#, %f#, %f#;\n", "  mov.b32 %r5, %f#;\n  add.u32 %r3, %r3, %r5;\n"};
constexpr Pattern kFp64 = {
    "sm_70", "  .reg .f64 %g<16>;\n  .reg .f32 %q;\n",
    "  add.u32 %r5, %r2, #;\n  cvt.rn.f64.u32 %g#, %r5;\n", "  fma.rn.f64 %g#, %g#, %g#, %g#;\n",
    "  cvt.rn.f32.f64 %q, %g#;\n  mov.b32 %r5, %q;\n  add.u32 %r3, %r3, %r5;\n"};
constexpr Pattern kFp16 = {"sm_70", "  .reg .b32 %h<16>;\n", "  add.u32 %h#, %r2, #;\n",
                           "  fma.rn.f16x2 %h#, %h#, %h#, %h#;\n", "  add.u32 %r3, %r3, %h#;\n"};
constexpr Pattern kInteger = {"sm_70", "  .reg .b32 %h<16>;\n", "  add.u32 %h#, %r2, #;\n",
                              "  mad.lo.u32 %h#, %h#, %h#, %r2;\n", "  add.u32 %r3, %r3, %h#;\n"};
constexpr Pattern kSpecial = {
    "sm_70", "  .reg .f32 %f<16>;\n", "  add.u32 %r5, %r2, #;\n  cvt.rn.f32.u32 %f#, %r5;\n",
    "  ex2.approx.ftz.f32 %f#, %f#;\n", "  mov.b32 %r5, %f#;\n  add.u32 %r3, %r3, %r5;\n"};
// m16n8k16 on halves, sums in single precision.
constexpr Pattern kTensor = {
    "sm_80", "  .reg .f32 %a<8>, %b<8>, %c<8>, %e<8>;\n",
    "  add.u32 %r5, %r2, #;\n  cvt.rn.f32.u32 %a#, %r5;\n  mov.f32 %b#, %a#;\n  mov.f32 %c#, "
    "%a#;\n  mov.f32 %e#, %a#;\n",
    "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%a#, %b#, %c#, %e#}, "
    "{%r2, %r2, %r2, %r2}, {%r2, %r2}, {%a#, %b#, %c#, %e#};\n",
    "  add.f32 %a#, %a#, %b#;\n  add.f32 %c#, %c#, %e#;\n  add.f32 %a#, %a#, %c#;\n"
    "  mov.b32 %r5, %a#;\n  add.u32 %r3, %r3, %r5;\n"};

}  // namespace

std::string MemoryKernels() { return kMemoryKernels; }

std::vector<RateKernel> RateKernels(int capability) {
  constexpr double kOperations = static_cast<double>(kChains) * kUnrolled;
  std::vector<RateKernel> kernels = {{"fp32", TextOf(kFp32, kChains), 2 * kOperations},
                                     {"fp64", TextOf(kFp64, kChains), 2 * kOperations},
                                     {"fp16", TextOf(kFp16, kChains), 4 * kOperations},
                                     {"integer", TextOf(kInteger, kChains), 2 * kOperations},
                                     {"special", TextOf(kSpecial, kChains), kOperations}};
  if (capability >= 80) {
    constexpr double kOfAWarp = 2.0 * 16 * 8 * 16;
    kernels.push_back({"tensor", TextOf(kTensor, kChains), kOperations * kOfAWarp / 32});
  }
  return kernels;
}

}  // namespace cupilot::worker
