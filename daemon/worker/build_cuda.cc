#include "worker/build_cuda.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "device/cuda/cubin.h"
#include "device/cuda/nvrtc.h"
#include "records/code_targets.h"
#include "records/json.h"
#include "source/command_flags.h"
#include "source/swap/device_text.h"
#include "worker/cpu_limit.h"
#include "worker/ptx_lacks.h"
#include "worker/ptx_losses.h"
#include "worker/run_tool.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::steady_clock;

// Another one where replies hold more: what is kept may be older than we are.
constexpr const char* kFactsVersion = "4";
// Of the artifact's bytes, beside the reply: nobody waited for the disk when it was written.
constexpr const char* kContent = "content";
constexpr const char* kUnlinked = "unlinked";  // likewise, of what was linked to it

struct Toolkit {
  std::string folder;
  std::string include;
  std::string compiler;  // nvcc
  int major = 13;
};

// What one build is made of; equal ones give equal cubins.
struct Recipe {
  Toolkit toolkit;
  records::LoadedCode target;
  std::vector<std::string> options;
  std::vector<std::string> nvcc_options;  // what only nvcc is told
  bool relocatable = false;               // compiled to be linked: other code, and so measured
};

double SecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

int MajorOf(const std::vector<std::string>& code_flags) {
  constexpr std::string_view kName = "toolkit=";
  for (const std::string& flag : code_flags) {
    if (flag.starts_with(kName)) return std::atoi(flag.c_str() + kName.size());
  }
  return 13;
}

bool IsRelocatable(const std::vector<std::string>& code_flags) {
  bool relocatable = false;
  for (const std::string& flag : code_flags) {
    const bool names = flag.starts_with("-rdc=") || flag.starts_with("--relocatable-device-code=");
    if (names) relocatable = flag.ends_with("=true");
  }
  return relocatable;
}

std::string CompilerOf(const records::CompileCommand& command, const std::string& toolkit) {
  const std::string named = command.arguments.empty() ? "" : command.arguments.front();
  if (named.find('/') == std::string::npos) return toolkit + "/bin/nvcc";
  return base::AbsolutePath(named, command.directory);
}

// What nvcc must be told to take, and NVRTC takes anyway.
bool IsLanguageOption(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  return flag == "extended-lambda" || flag == "expt-extended-lambda" ||
         flag == "expt-relaxed-constexpr";
}

base::Result<Recipe> RecipeFor(const protocol::BuildRequest& request) {
  TRY_ASSIGN(const source::CommandFlags flags, source::TranslateCommand(request.command));
  if (flags.host_toolkit) {
    return base::Fail(
        base::InvalidArgument("the recorded compile is one for the host device, not for a GPU"));
  }
  // A process that builds reaches no device that it could ask.
  const std::string& architecture = request.target;
  if (architecture.empty()) {
    return base::Fail(base::InvalidArgument("a build for a GPU must name its architecture"));
  }
  Recipe recipe;
  recipe.toolkit.include = flags.toolkit_include;
  recipe.toolkit.folder = std::filesystem::path(flags.toolkit_include).parent_path();
  recipe.toolkit.compiler = CompilerOf(request.command, recipe.toolkit.folder);
  recipe.toolkit.major = MajorOf(flags.code_flags);
  const std::vector<records::CodeTarget> targets = records::CodeTargets(
      request.command, architecture, recipe.toolkit.major >= 13 ? "sm_75" : "sm_52");
  const auto loaded = records::LoadedOn(targets, architecture);
  if (!loaded) return base::Fail(base::Unavailable(records::WhyNotNative(targets, architecture)));
  recipe.target = *loaded;
  recipe.options = DeviceOptions(flags.code_flags);
  recipe.relocatable = IsRelocatable(flags.code_flags);
  for (const std::string& flag : flags.code_flags) {
    if (flag.starts_with("-ccbin=") || flag.starts_with("--compiler-bindir=") ||
        IsLanguageOption(flag)) {
      recipe.nvcc_options.push_back(flag);
    }
  }
  return recipe;
}

// NVRTC names one architecture for both, the virtual and the real one.
bool NvrtcCan(const records::LoadedCode& target) {
  return target.ptx.substr(target.ptx.find('_')) == target.code.substr(target.code.find('_'));
}

std::vector<std::string> NvrtcOptions(const Recipe& recipe) {
  std::vector<std::string> options = {"--gpu-architecture=" + recipe.target.code, "--device-int128",
                                      "-w", "-I" + recipe.toolkit.include,
                                      "-I" + recipe.toolkit.include + "/cccl"};
  if (recipe.relocatable) options.emplace_back("--relocatable-device-code=true");
  for (const std::string& option : recipe.options) {
    constexpr std::string_view kAssembler = "-Xptxas=";
    options.push_back(option.starts_with(kAssembler)
                          ? "--ptxas-options=" + option.substr(kAssembler.size())
                          : option);
  }
  return options;
}

// `intermediate`: a folder for what it makes on the way.
std::vector<std::string> NvccWords(const Recipe& recipe, const std::string& source,
                                   const std::string& intermediate, const std::string& output) {
  std::vector<std::string> words = {
      recipe.toolkit.compiler,
      "-cubin",
      "-x",
      "cu",
      "-w",
      "-Wno-deprecated-gpu-targets",
      "-gencode=arch=" + recipe.target.ptx + ",code=" + recipe.target.code};
  if (recipe.relocatable) words.emplace_back("-rdc=true");
  words.insert(words.end(), recipe.options.begin(), recipe.options.end());
  words.insert(words.end(), recipe.nvcc_options.begin(), recipe.nvcc_options.end());
  words.insert(words.end(), {"-keep", "-keep-dir", intermediate, source, "-o", output});
  return words;
}

// Whether the user's own compile asks for fast arithmetic, so that it is nobody's invention.
bool AllowsApproximations(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [](std::string_view option) {
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    return option == "use_fast_math" || option == "use_fast_math=true" || option == "ftz=true" ||
           option == "prec-div=false" || option == "prec-sqrt=false";
  });
}

class CudaBuild {
 public:
  CudaBuild(const protocol::BuildRequest& request, Recipe recipe)
      : request_(request), recipe_(std::move(recipe)) {
    base::Hasher hasher;
    hasher.Add(recipe_.target.Text()).Add(recipe_.toolkit.folder).Add(kFactsVersion);
    if (recipe_.relocatable) hasher.Add("relocatable");
    if (request.as_compiled) hasher.Add("as compiled");
    for (const std::string& option : recipe_.options) hasher.Add(option);
    for (const std::string& option : recipe_.nvcc_options) hasher.Add(option);
    base_name_ = request.cache_folder + "/" + hasher.Add(request.text).Hex();
  }

  // What an object would hold of it, if it is built: before the device linker.
  base::Result<std::string> CompiledCode() const { return base::ReadFile(Compiled()); }

  base::Result<protocol::BuildReply> Run() {
    if (auto kept = Kept()) return std::move(*kept);
    const auto began = steady_clock::now();
    TRY(base::MakeFolders(request_.cache_folder));
    TRY_ASSIGN(protocol::BuildReply reply, Build());
    if (!reply.failed) TRY(TakeHashes(reply));
    if (!reply.failed && recipe_.relocatable) TRY(Link(reply));
    reply.seconds = SecondsSince(began);
    if (!reply.failed) TRY(Keep(reply));
    return reply;
  }

 private:
  std::string Artifact() const { return base_name_ + ".cubin"; }
  // What the compiler writes: the artifact, or what is linked to it, which is kept where it is what
  // an object holds.
  std::string Compiled() const {
    if (!recipe_.relocatable) return Artifact();
    // The device linker takes by its name what a file is, and leaves out what it does not know.
    return base_name_ + ".unlinked" + (request_.as_compiled ? "" : own_) + ".cubin";
  }
  std::string Facts() const { return base_name_ + ".json"; }
  std::string Intermediate() const { return base_name_ + ".made" + own_; }

  // The facts are written last: an artifact without them is one that was cut off.
  std::optional<protocol::BuildReply> Kept() const {
    const auto artifact = base::ReadFile(Artifact());
    const auto text = base::ReadFile(Facts());
    if (!artifact || !text) return std::nullopt;
    const auto json = records::ParseJson(*text);
    if (!json || !json->is_object()) return std::nullopt;
    if (json->value(kContent, Json()) != base::HashHex(*artifact)) return std::nullopt;
    auto reply = protocol::ParseBuildReply(*json);
    if (!reply) return std::nullopt;
    if (const auto compiled = json->find(kUnlinked); compiled != json->end()) {
      const auto unlinked = base::ReadFile(Compiled());
      if (!unlinked || *compiled != base::HashHex(*unlinked)) return std::nullopt;
    }
    reply->artifact = Artifact();
    reply->cached = true;
    return *reply;
  }

  base::Result<> Keep(const protocol::BuildReply& reply) const {
    TRY_ASSIGN(const std::string artifact, base::ReadFile(Artifact()));
    Json facts = protocol::ToJson(reply);
    facts[kContent] = base::HashHex(artifact);
    if (recipe_.relocatable && request_.as_compiled) {
      TRY_ASSIGN(const std::string unlinked, base::ReadFile(Compiled()));
      facts[kUnlinked] = base::HashHex(unlinked);
    }
    return base::WriteFileUnsynced(Facts(), facts.dump());
  }

  // As the object holds them: before the device linker.
  base::Result<> TakeHashes(protocol::BuildReply& reply) const {
    TRY_ASSIGN(const std::string cubin, base::ReadFile(Compiled()));
    TRY_ASSIGN(const source::TextHashes hashes,
               source::TextHashesOfCubin(std::as_bytes(std::span(cubin))));
    for (const auto& [symbol, hash] : hashes) {
      reply.text_hashes.emplace_back(device::cuda::QualifiedName(symbol), hash);
    }
    TRY_ASSIGN(reply.data_hash, source::DataHashOfCubin(std::as_bytes(std::span(cubin))));
    return {};
  }

  // The driver loads nothing that is not linked.
  base::Result<> Link(protocol::BuildReply& reply) const {
    const std::string linker =
        std::filesystem::path(recipe_.toolkit.compiler).parent_path() / "nvlink";
    const std::string log = base_name_ + ".link.log";
    const std::string temporary = Artifact() + ".linked" + own_;
    TRY_ASSIGN(const ToolEnd ended,
               RunTool({linker, "-arch=" + recipe_.target.code, Compiled(), "-o", temporary}, log,
                       std::chrono::milliseconds(request_.timeout_ms)));
    if (!request_.as_compiled) (void)base::RemoveTree(Compiled());
    if (!ended.succeeded) {
      reply.failed = true;
      reply.timed_out = ended.timed_out;
      reply.log = BeginningOf(log);
      (void)base::RemoveTree(temporary);
      return {};
    }
    return Rename(temporary, Artifact());
  }

  static base::Result<> Rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return base::Fail(base::IoError("rename to " + to + ": " + std::strerror(errno)));
    }
    return {};
  }

  base::Result<protocol::BuildReply> Build() const {
    std::string why_not;
    if (!request_.as_compiled && NvrtcCan(recipe_.target)) {
      const auto nvrtc = device::cuda::OpenNvrtc(recipe_.toolkit.folder);
      if (nvrtc) {
        const double began = CpuSeconds();
        const auto result = CompileLimited(*nvrtc);
        if (result && !result->failed) {
          TRY(base::WriteFileUnsynced(Compiled(), result->cubin));
          protocol::BuildReply reply = Done("nvrtc " + nvrtc->version, result->ptx);
          reply.cpu_seconds = CpuSeconds() - began;
          return reply;
        }
        why_not = result ? "NVRTC: " + result->log : result.error().message;
      } else {
        why_not = nvrtc.error().message;
      }
    }
    // What NVRTC lacks (functions of the host's headers, for one) nvcc may have.
    return BuildWithNvcc(why_not);
  }

  base::Result<device::cuda::NvrtcResult> CompileLimited(const device::cuda::Nvrtc& nvrtc) const {
    const CpuLimit limit(request_.cpu_seconds);
    return device::cuda::CompileWithNvrtc(nvrtc, request_.text, NvrtcOptions(recipe_));
  }

  base::Result<protocol::BuildReply> BuildWithNvcc(const std::string& why_not_nvrtc) const {
    if (!base::FileExists(recipe_.toolkit.compiler)) {
      return base::Fail(base::Unavailable("no compiler for GPUs: " + recipe_.toolkit.compiler +
                                          " is not there; " + why_not_nvrtc));
    }
    const std::string source = base_name_ + ".cu", log = base_name_ + ".log";
    const std::string temporary = Artifact() + own_;
    TRY(base::WriteFileUnsynced(source, request_.text));
    std::error_code ignored;  // nvcc says it
    std::filesystem::create_directory(Intermediate(), ignored);
    const auto ended = RunTool(NvccWords(recipe_, source, Intermediate(), temporary), log,
                               std::chrono::milliseconds(request_.timeout_ms));
    const auto ptx = base::ReadFile(Intermediate() + "/" +
                                    std::filesystem::path(base_name_).filename().string() + ".ptx");
    (void)base::RemoveTree(Intermediate());
    TRY(ended);
    if (!ended->succeeded) {
      protocol::BuildReply reply;
      reply.failed = true;
      reply.timed_out = ended->timed_out;
      reply.log = BeginningOf(log);
      (void)base::RemoveTree(temporary);
      return reply;
    }
    TRY(Rename(temporary, Compiled()));
    return Done("nvcc toolkit " + std::to_string(recipe_.toolkit.major), ptx ? *ptx : "");
  }

  protocol::BuildReply Done(const std::string& toolchain, const std::string& ptx) const {
    protocol::BuildReply reply;
    const bool fast = AllowsApproximations(recipe_.options);
    for (const auto& [symbol, losses] : LossesOf(ptx)) {
      for (const auto& [kind, instruction] : losses) {
        if (fast && (kind == kApproximate || kind == kFlushes)) continue;
        reply.losses.emplace_back(device::cuda::QualifiedName(symbol), kind + " " + instruction);
      }
    }
    reply.lacks = LacksOf(ptx);
    reply.artifact = Artifact();
    reply.target = recipe_.target.Text();
    reply.toolchain = toolchain;
    return reply;
  }

  const protocol::BuildRequest& request_;
  Recipe recipe_;
  std::string base_name_;
  const std::string own_ = base::UniqueSuffix();  // of temporary files
};

}  // namespace

std::vector<std::string> DeviceOptions(const std::vector<std::string>& code_flags) {
  constexpr std::array<std::string_view, 14> kNames = {
      "-std=",           "-use_fast_math",
      "--use_fast_math", "-ftz=",
      "--ftz=",          "-prec-div=",
      "--prec-div=",     "-prec-sqrt=",
      "--prec-sqrt=",    "-fmad=",
      "--fmad=",         "-maxrregcount=",
      "-Xptxas=",        "--extra-device-vectorization"};
  std::vector<std::string> options;
  for (const std::string& flag : code_flags) {
    for (const std::string_view name : kNames) {
      if (flag.starts_with(name)) options.push_back(flag);
    }
  }
  return options;
}

base::Result<> BeginCuda(const protocol::BuildRequest& request) {
  TRY_ASSIGN(const Recipe recipe, RecipeFor(request));
  if (!NvrtcCan(recipe.target)) return {};
  TRY_ASSIGN(const device::cuda::Nvrtc nvrtc, device::cuda::OpenNvrtc(recipe.toolkit.folder));
  TRY(device::cuda::CompileWithNvrtc(nvrtc, "__global__ void nothing() {}", NvrtcOptions(recipe)));
  return {};
}

base::Result<protocol::BuildReply> BuildCuda(const protocol::BuildRequest& request) {
  TRY_ASSIGN(Recipe recipe, RecipeFor(request));
  return CudaBuild(request, std::move(recipe)).Run();
}

base::Result<CompiledCuda> CompileCuda(const protocol::BuildRequest& request) {
  TRY_ASSIGN(const Recipe recipe, RecipeFor(request));
  CompiledCuda compiled;
  compiled.ptx = recipe.target.ptx;
  compiled.code = recipe.target.code;
  compiled.by_driver = recipe.target.by_driver;
  compiled.relocatable = recipe.relocatable;
  compiled.tools = std::filesystem::path(recipe.toolkit.compiler).parent_path();
  for (const std::string& option : recipe.options) {
    constexpr std::string_view kAssembler = "-Xptxas=", kRegisters = "-maxrregcount=";
    if (option.starts_with(kAssembler)) {
      compiled.assembler_options.push_back(option.substr(kAssembler.size()));
    } else if (option.starts_with(kRegisters)) {
      compiled.assembler_options.push_back(option);
    }
  }
  CudaBuild build(request, recipe);
  TRY_ASSIGN(compiled.build, build.Run());
  // Relocatable code may name what other objects have: it is compiled though it does not link.
  const auto code = build.CompiledCode();
  if (code) compiled.cubin = *code;
  return compiled;
}

}  // namespace cupilot::worker
