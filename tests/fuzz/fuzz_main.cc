// One target as a libFuzzer program: CUPILOT_FUZZ_TARGET is its function.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong =
      cupilot::fuzz::CUPILOT_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  // Whole: what is wrong may hold a zero.
  std::fwrite(wrong.data(), 1, wrong.size(), stderr);
  std::fputc('\n', stderr);
  std::abort();
}
