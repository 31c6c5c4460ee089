// Kernels in objects beside the code that is tuned: the same one, one that is compiled to other
// code with the same results, and another one, each a row.
#include <string>

#include "protocol/compare_object.h"
#include "report_row.h"
#include "worker_bench.h"

namespace cupilot::gpu_tests {
namespace {

struct ObjectCase {
  const char* name;
  const char* tail;  // of the kernel in the object
  bool equal;
  bool passes;
};
constexpr ObjectCase kCases[] = {
    {"equal", "", true, true},
    // No thread has this value, which no compiler knows.
    {"other_code", "  if (x == 3.0e38f) x = 1;\n", false, true},
    {"other_kernel", "  x *= 1.5f;\n", false, false},
};

void RunCase(Bench& bench, Worker& device, const ObjectCase& one) {
  const std::string name = std::string("evaluation.object.") + one.name;
  Change change;
  change.tail = one.tail;
  const protocol::CompareObjectReply compared = bench.CompareWithObject(change);
  if (!compared.not_compared.empty() || compared.difference.empty() != one.equal) {
    return PrintRow(name, "failed",
                    "compared: '" + compared.difference + "' " + compared.not_compared);
  }
  if (one.equal) return PrintRow(name, "passed", "the same code");
  if (compared.image.empty()) return PrintRow(name, "failed", compared.not_loadable);
  const auto verified = Verify(device, bench.OfObject(compared), "all");
  const std::string said = !verified          ? verified.error().message
                           : verified->passed ? "passes"
                                              : verified->reason + ": " + verified->detail;
  const bool as_expected = verified && !verified->original_failed && verified->passed == one.passes;
  PrintRow(name, as_expected ? "passed" : "failed",
           "the object's kernel " + compared.difference + "; " + said);
}

}  // namespace

void RunObjects(Bench& bench) {
  Worker device(bench.libexec(), "device");
  for (const ObjectCase& one : kCases) RunCase(bench, device, one);
}

}  // namespace cupilot::gpu_tests
