// The figures of the swap, beside their limits (design, section 12).
//
// swap_bench [--nvcc COMPILER] [--target TARGET] [--keep FILE]: the compiler is by default the
// build tree's own, the target then this processor; else an H100's. --keep leaves the program that
// times launches for a machine without a compiler. Writes into a temporary folder and removes it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "records/expression.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/selection_check.h"
#include "source/swap/swapped_source.h"
#include "tests/support/fake_nvcc.h"

namespace cupilot {
namespace {

namespace fs = std::filesystem;

constexpr int kLaunches = 1000000;  // of each kind: the limits are of their medians

double Milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void Print(const char* what, double value, const char* unit, const char* limit) {
  std::printf("%-44s %10.3f %-10s at most %s\n", what, value, unit, limit);
}

// Runs a program without a shell; its milliseconds, or a negative number if it failed.
double Run(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const double begin = Milliseconds();
  const pid_t child = vfork();
  if (child == 0) {
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? Milliseconds() - begin : -1;
}

int Shell(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str());
}

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// The same command directly and through the launcher, in turns; the compiler is `true`.
void MeasureLauncher(const fs::path& folder) {
  Write(folder / "main.cu", "");
  const std::vector<std::string> compile = {"/bin/true", "-c", (folder / "main.cu").string(), "-o",
                                            (folder / "build/main.o").string()};
  std::vector<std::string> launched = {CUPILOT_BENCH_LAUNCHER, (folder / "build/cupilot").string(),
                                       "app", "--", "--compiler"};
  launched.insert(launched.end(), compile.begin(), compile.end());
  fs::create_directories(folder / "build");
  std::vector<double> differences;
  for (int i = 0; i < 500; ++i) {
    const double direct = Run(compile);
    differences.push_back(Run(launched) - direct);
  }
  Print("launcher, compile that is not swapped", Median(differences), "ms", "1 ms");
}

// 200 objects, with and without us; the compiler is a script that only makes its files.
void MeasureNoop(const fs::path& folder, const std::string& nvcc) {
  Write(folder / "cheap", R"(#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2 ;; -MF) deps=$2 ;; -include) stamp=$2 ;; -c) source=$2 ;; esac
  shift
done
: > "$out"
[ -z "$deps" ] || echo "$out: $source $stamp" > "$deps"
)");
  fs::permissions(folder / "cheap", fs::perms::owner_all);
  std::string sources;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "k" + std::to_string(i) + ".cu";
    Write(folder / "source" / name, "");
    sources += " " + name;
  }
  Write(folder / "source/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(noop LANGUAGES CXX CUDA)\n"
        "add_library(kernels OBJECT" +
            sources +
            ")\n"
            "set_target_properties(kernels PROPERTIES CUDA_COMPILER_LAUNCHER \"" +
            (folder / "cheap").string() +
            "\")\n"
            "if(TUNED)\n  set_property(GLOBAL PROPERTY CUPILOT_LAUNCHER \"" CUPILOT_BENCH_LAUNCHER
            "\")\n  include(\"" CUPILOT_BENCH_MODULE "\")\n  cupilot_tune(kernels)\nendif()\n");
  double times[2] = {0, 0};
  for (int tuned = 0; tuned < 2; ++tuned) {
    const std::string build = (folder / (tuned == 1 ? "tuned" : "plain")).string();
    const std::string configure = "CUPILOT=0 cmake -G Ninja -S " + (folder / "source").string() +
                                  " -B " + build + " -DCMAKE_CUDA_COMPILER=" + nvcc +
                                  " -DTUNED=" + std::to_string(tuned);
    if (Shell(configure) != 0 || Shell("ninja -C " + build) != 0) {
      std::printf("no-op build: the project does not build here\n");
      return;
    }
    if (Shell("ninja -C " + build + " -n | grep -q 'no work to do'") != 0) {
      std::printf("no-op build: ninja finds work to do\n");
    }
    std::vector<double> all;
    for (int i = 0; i < 40; ++i) {
      const double begin = Milliseconds();
      Shell("ninja -C " + build);
      all.push_back(Milliseconds() - begin);
    }
    times[tuned] = Median(all);
  }
  Print("no-op build of 200 tuned objects, over plain", times[1] - times[0], "ms", "5 ms");
}

// A file of 2,000 lines and 20 headers, one line of the file edited: does the variant stay?
void MeasureEditWindow(const fs::path& folder) {
  const std::string kernel =
      "__device__ float Weigh(float x, int i) { return x * static_cast<float>(i); }\n"
      "__global__ void Scale(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = Weigh(in[i], i);\n}\n";
  const auto functions = [](const std::string& stem, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "// What it is for, in a line.\nstatic int " + stem + std::to_string(i) +
              "(const float* values, int n, std::vector<int>& rows) {\n  int sum = 0;\n"
              "  for (int i = 0; i < n; ++i) {\n    if (values[i] > 0.5f) sum += i % 7;\n  }\n"
              "  rows.push_back(sum);  // kept for later\n  return sum + \"text\"[n % 4];\n}\n\n";
    }
    return text;
  };
  records::CompileCommand command;
  command.directory = folder;
  command.source = folder / "main.cu";
  command.folder = folder / "object";
  fs::create_directories(folder / "toolkit/bin");
  test::WriteFakeNvcc(folder / "toolkit/bin/nvcc");
  command.arguments = {folder / "toolkit/bin/nvcc", "-c", command.source, "-o", "main.o"};
  const std::string text = functions("Before", 100) + kernel + functions("After", 100);
  Write(command.source, text);
  records::Selection selection;
  selection.source = command.source;
  selection.swap = "swap." + base::HashHex("") + ".cu";
  selection.command_hash = records::CommandHash(command);
  selection.environment_hash = records::EnvironmentHash(command);
  selection.toolchain = source::ToolchainIdentity(command);
  selection.kernels = {{"Scale", "", "", {}}};
  Write(folder / "object" / selection.swap, "");
  selection.files = {source::RecordFile(command.source).value()};
  for (int i = 0; i < 20; ++i) {
    const fs::path header = folder / ("header" + std::to_string(i) + ".h");
    Write(header, "#pragma once\n" + functions("Header", 20));
    selection.files.push_back(source::RecordFile(header).value());
  }
  source::SwapRequest request;
  request.kernels.emplace_back().kernel.closure_source = kernel;
  const auto compiler = source::AskCompiler(command);
  if (compiler) source::RecordTokens(request, source::Summarise(compiler->passes), selection);
  Write(folder / "object/selection.json", records::PrettyJson(records::ToJson(selection)));
  Write(command.source, "// An edit.\n" + text);
  std::vector<double> times;
  bool holds = true;
  for (int i = 0; i < 20; ++i) {
    const double begin = Milliseconds();
    holds = source::CheckSelection(command).holds && holds;
    times.push_back(Milliseconds() - begin);
  }
  if (!holds) std::printf("edit window: the selection does not hold\n");
  Print("check of a selection: preprocessing by g++, 2,000 lines", Median(times), "ms", "200 ms");
}

source::SwappedKernel Kernel(const std::string& name, const std::string& target,
                             const std::vector<std::string>& guards) {
  source::SwappedKernel swapped;
  records::Kernel& kernel = swapped.kernel;
  kernel.name = "bench::" + name;
  kernel.namespaces = {"bench"};
  kernel.parameters.resize(2);
  records::Parameter& out = kernel.parameters[0];
  out.name = "out";
  out.type = out.canonical = "int *";
  out.kind = records::ParameterKind::kPointer;
  out.bytes = 8;
  out.element = "int";
  out.element_bytes = 4;
  records::Parameter& n = kernel.parameters[1];
  n.name = "n";
  n.type = n.canonical = "int";
  n.kind = records::ParameterKind::kInteger;
  n.bytes = 4;
  n.is_signed = true;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    records::Variant variant;
    variant.kernel = kernel.name;
    variant.entry = name + "_" + std::to_string(i);
    variant.source = "__global__ void " + variant.entry +
                     "(int* out, int n) { if (n < 0) *out = " + std::to_string(i) + "; }";
    variant.id = records::VariantId(variant);
    swapped.variants.push_back({variant, target, {}, guards[i], "bench", 1.1});
  }
  return swapped;
}

void MeasureLaunches(const std::string& program, const std::string& target) {
  std::FILE* output = popen((program + " " + std::to_string(kLaunches)).c_str(), "r");
  double plain = 0, without = 0, tuned = 0, missed = 0, sized = 0;
  const bool read = output != nullptr && std::fscanf(output, "%lf %lf %lf %lf %lf", &plain,
                                                     &without, &tuned, &missed, &sized) == 5;
  if (output != nullptr) pclose(output);
  if (!read) {
    std::printf("launches: no device that runs %s\n", target.c_str());
    return;
  }
  Print("a launch in an object without a selection", plain, "ns", "(about 3 us on a GPU)");
  Print("a launch without a variant, over that", without - plain, "ns", "0 without a selection");
  Print("a tuned launch, guard included, over that", tuned - plain, "ns", "50 ns");
  Print("a launch whose guard fails, over that", missed - plain, "ns", "50 ns");
  Print("a launch by the last of three guards, over that", sized - plain, "ns", "50 ns");
}

// What our own compiler makes code for on this machine; empty: it is another one.
std::string HostTarget(const fs::path& folder, const std::string& nvcc) {
  Write(folder / "target.cu",
        "__global__ void kernel() {}\nint main() {\n"
        "  __builtin_printf(\"%s\\n\", cupilot_host_architecture((const void*)kernel));\n}\n");
  const std::string program = (folder / "target").string();
  if (Shell(nvcc + " " + (folder / "target.cu").string() + " -o " + program) != 0) return {};
  std::FILE* output = popen(program.c_str(), "r");
  char name[64] = "";
  if (output == nullptr) return {};
  if (std::fscanf(output, "%63s", name) != 1) name[0] = '\0';
  pclose(output);
  return name;
}

void MeasureSwap(const fs::path& folder, const std::string& nvcc, const std::string& target,
                 const std::string& keep) {
  const std::string user = CUPILOT_BENCH_LAUNCHES;
  const source::SwapRequest request = {
      user,
      folder.string(),
      {Kernel("tuned", target,
              {"n >= 1 && n <= 4096 && aligned(out, 4) && disjoint(out, 4, out, 0)"}),
       Kernel("missed", target, {"n >= 2 && n <= 4096"}),
       Kernel("sized", target,
              {"n > 1024 && n <= 4096", "n > 64 && n <= 1024", "n >= 1 && n <= 64"})}};
  const auto swapped = source::WriteSwappedSource(request);
  if (!swapped) {
    std::printf("swapped source: %s\n", swapped.error().message.c_str());
    return;
  }
  const std::string swap = (folder / swapped->file_name).string();
  for (const source::SwappedText& one : swapped->Files()) {
    Write((folder / one.file_name).string(), one.text);
  }
  std::string architecture = target.starts_with("compute_")
                                 ? " -gencode=arch=" + target.substr(0, target.find(',')) +
                                       ",code=" + target.substr(target.find(',') + 1)
                                 : "";
  const std::string common = nvcc + " -O3 -std=c++17" + architecture;
  std::string hook;
  for (const std::string& word : source::HookDefinitions(swapped->hook)) hook += " " + word;
  std::vector<double> ratios;
  for (int i = 0; i < 7; ++i) {
    const double begin = Milliseconds();
    const int plain = Shell(common + " -c " + user + " -o " + (folder / "plain.o").string());
    const double middle = Milliseconds();
    const int tuned = Shell(common + hook + " -c " + swap + " -o " + (folder / "tuned.o").string());
    const double end = Milliseconds();
    if (plain != 0 || tuned != 0) {
      std::printf("swapped compile: failed here\n");
      return;
    }
    ratios.push_back((end - middle) / (middle - begin));
  }
  Print("compile of a swapped object, over the original's", Median(ratios), "times", "1.5 times");
  // An object without us, as one without a selection is.
  const std::string program = (folder / "launches").string(), other = (folder / "other.o").string();
  if (Shell(common + " -DPLAIN -c " + user + " -o " + other) != 0 ||
      Shell(common + " " + (folder / "tuned.o").string() + " " + other + " -o " + program) != 0) {
    std::printf("launches: the program does not link here\n");
    return;
  }
  if (!keep.empty()) fs::copy_file(program, keep, fs::copy_options::overwrite_existing);
  MeasureLaunches(program, target);
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) {
  std::string nvcc = CUPILOT_BENCH_NVCC, keep, target;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--nvcc") nvcc = argv[i + 1];
    if (std::string(argv[i]) == "--target") target = argv[i + 1];
    if (std::string(argv[i]) == "--keep") keep = argv[i + 1];
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "cupilot_bench_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    std::perror("swap_bench");
    return 1;
  }
  const std::filesystem::path folder = pattern;
  cupilot::MeasureLauncher(folder / "launcher");
  cupilot::MeasureEditWindow(folder / "window");
  std::filesystem::create_directories(folder / "swap");
  if (target.empty()) target = cupilot::HostTarget(folder / "swap", nvcc);
  if (target.empty()) target = "compute_90,sm_90";
  cupilot::MeasureNoop(folder / "noop", nvcc);
  cupilot::MeasureSwap(folder / "swap", nvcc, target, keep);
  std::filesystem::remove_all(folder);
  return 0;
}
