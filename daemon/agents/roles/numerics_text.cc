#include "agents/roles/numerics_text.h"

#include <cstdio>
#include <set>

#include "agents/roles/prompt.h"

namespace cupilot::agents {
namespace {

std::string Declared(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string ToleranceText(const records::Tolerance& tolerance) {
  std::string limit;
  if (tolerance.relative) {
    limit = "|c - o| <= " + Declared(*tolerance.relative) + " * max(|o|, rms(o))";
  }
  if (tolerance.absolute) {
    limit += (limit.empty() ? "" : " or ") + ("|c - o| <= " + Declared(*tolerance.absolute));
  }
  return "The user declared a tolerance: for each element c of a floating-point output, with o the "
         "original's and rms(o) the root mean square of that output, " +
         limit +
         ". Inside it everything is allowed, lower precision and tensor cores too. Integer and "
         "other outputs have to be equal.";
}

constexpr const char* kOwnRule =
    "No tolerance is declared: a variant has to be about as exact as the original. Errors are "
    "measured against the original computed in double precision, in units of what rounding can do "
    "to each output, on many kinds of inputs (few non-zeros, exact integers, large offsets, wide "
    "scales). Fine: another order or tree of additions, fused multiply-adds, several accumulators, "
    "compensated sums, online forms of maxima and sums, stable two-pass or Welford variances. "
    "Refused: operands or accumulators of lower precision than the original's (half, bfloat16, "
    "tf32, so tensor cores for single precision too), approximate functions, sums of squares minus "
    "squared sums where the original has two passes, Winograd, Strassen and Fourier forms. Integer "
    "and other outputs have to be equal.";

constexpr const char* kEqualBits =
    "Equal bits are demanded of every output. Each floating-point operation of the original has to "
    "happen with the same operands and the same rounding: sums keep their order, nothing is "
    "reassociated, and expressions keep their form, so that the compiler fuses multiplications and "
    "additions as it does in the original. What may change is who computes what, where data lies, "
    "and how it is moved.";

}  // namespace

std::string NumericsText(const records::Workload& workload, bool bitwise) {
  const auto& tolerance = workload.tolerance;
  if (bitwise || (tolerance && tolerance->bitwise)) return kEqualBits;
  if (tolerance && (tolerance->relative || tolerance->absolute)) return ToleranceText(*tolerance);
  return kOwnRule;
}

std::string FreeOrderOutputs(const records::Workload& workload) {
  std::set<std::string> names;
  for (const records::Case& one : workload.cases) {
    for (const records::Argument& argument : one.arguments) {
      if (argument.order_free) names.insert(argument.name);
    }
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return AsName(all);
}

bool HasOverlaps(const records::Workload& workload) {
  for (const records::Case& one : workload.cases) {
    std::set<std::string> buffers;
    for (const records::Argument& argument : one.arguments) {
      if (!argument.buffer.empty() && !buffers.insert(argument.buffer).second) return true;
    }
  }
  return false;
}

}  // namespace cupilot::agents
