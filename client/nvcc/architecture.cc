#include "client/nvcc/architecture.h"

#include <cstdio>

namespace cupilot::nvcc {
namespace {

int MachineLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  if (__builtin_cpu_supports("x86-64-v3")) return 3;
  if (__builtin_cpu_supports("x86-64-v2")) return 2;
  return 1;
}

// A processor's name on -march says nothing to us; the compiler knows what it has.
int LevelOfMarch(const std::string& compiler, const std::string& march) {
  for (const char c : march) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) return 1;
  }
  const std::string command =
      compiler + " -march=" + march + " -dM -E -x c++ /dev/null 2>/dev/null";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return 1;
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  ::pclose(pipe);
  const auto has = [&](const char* macro) { return text.find(macro) != std::string::npos; };
  if (has("__AVX512VL__") && has("__AVX512BW__") && has("__AVX512DQ__")) return 4;
  if (has("__AVX2__") && has("__FMA__") && has("__BMI2__")) return 3;
  return has("__SSE4_2__") ? 2 : 1;
}

}  // namespace

std::string ArchitectureOf(const CommandLine& line) {
  int level = MachineLevel();
  if (!line.march.empty() && line.march != "native") {
    level = LevelOfMarch(line.host_compiler, line.march);
  }
  return level == 1 ? "host-x86-64" : "host-x86-64-v" + std::to_string(level);
}

}  // namespace cupilot::nvcc
