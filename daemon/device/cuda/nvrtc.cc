#include "device/cuda/nvrtc.h"

#include <dlfcn.h>

#include <map>

#include "device/cuda/find_function.h"

namespace cupilot::device::cuda {
namespace {

constexpr NvrtcStatus kNvrtcSuccess = 0;
constexpr NvrtcStatus kNvrtcCompilation = 6;  // NVRTC_ERROR_COMPILATION

void* OpenLibrary(const std::string& toolkit) {
  // The newest first; toolkit 12 by its documented name.
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    for (const char* folder : {"/lib64/", "/targets/x86_64-linux/lib/", "/lib/"}) {
      if (toolkit.empty()) break;
      if (void* library = ::dlopen((toolkit + folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
        return library;
      }
    }
  }
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

base::Result<Nvrtc> Open(const std::string& toolkit) {
  void* library = OpenLibrary(toolkit);
  if (library == nullptr) {
    return base::Fail(base::Unavailable(
        "no NVRTC (libnvrtc.so.13 or .12) in the toolkit '" + toolkit +
        "' or on the loader's path: install the CUDA toolkit, or its package cuda-nvrtc"));
  }
  auto* api = new NvrtcApi();  // for the rest of the process's life, as the library
  const bool complete =
      FindFunction(library, "nvrtcGetErrorString", api->nvrtcGetErrorString) &&
      FindFunction(library, "nvrtcVersion", api->nvrtcVersion) &&
      FindFunction(library, "nvrtcCreateProgram", api->nvrtcCreateProgram) &&
      FindFunction(library, "nvrtcDestroyProgram", api->nvrtcDestroyProgram) &&
      FindFunction(library, "nvrtcCompileProgram", api->nvrtcCompileProgram) &&
      FindFunction(library, "nvrtcGetCUBINSize", api->nvrtcGetCUBINSize) &&
      FindFunction(library, "nvrtcGetCUBIN", api->nvrtcGetCUBIN) &&
      FindFunction(library, "nvrtcGetProgramLogSize", api->nvrtcGetProgramLogSize) &&
      FindFunction(library, "nvrtcGetProgramLog", api->nvrtcGetProgramLog);
  if (!complete) return base::Fail(base::Unavailable("this NVRTC is too old: it makes no cubins"));
  int major = 0, minor = 0;
  api->nvrtcVersion(&major, &minor);
  return Nvrtc{api, std::to_string(major) + "." + std::to_string(minor)};
}

}  // namespace

base::Result<Nvrtc> OpenNvrtc(const std::string& toolkit) {
  static auto& opened = *new std::map<std::string, base::Result<Nvrtc>>();
  const auto it = opened.find(toolkit);
  if (it != opened.end()) return it->second;
  return opened.emplace(toolkit, Open(toolkit)).first->second;
}

base::Result<NvrtcResult> CompileWithNvrtc(const Nvrtc& nvrtc, const std::string& text,
                                           const std::vector<std::string>& options) {
  const NvrtcApi& api = *nvrtc.api;
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  NvrtcProgram program = nullptr;
  NvrtcStatus status =
      api.nvrtcCreateProgram(&program, text.c_str(), "candidate.cu", 0, nullptr, nullptr);
  if (status != kNvrtcSuccess) {
    return base::Fail(base::ToolFailed(std::string("NVRTC: ") + api.nvrtcGetErrorString(status)));
  }
  NvrtcResult result;
  status = api.nvrtcCompileProgram(program, static_cast<int>(words.size()), words.data());
  std::size_t bytes = 0;
  if (api.nvrtcGetProgramLogSize(program, &bytes) == kNvrtcSuccess && bytes > 1) {
    result.log.resize(bytes);
    api.nvrtcGetProgramLog(program, result.log.data());
    result.log.resize(bytes - 1);  // its zero
  }
  if (status == kNvrtcSuccess) {
    status = api.nvrtcGetCUBINSize(program, &bytes);
    result.cubin.resize(status == kNvrtcSuccess ? bytes : 0);
    if (status == kNvrtcSuccess) status = api.nvrtcGetCUBIN(program, result.cubin.data());
  }
  api.nvrtcDestroyProgram(&program);
  if (status != kNvrtcSuccess && status != kNvrtcCompilation) {
    return base::Fail(base::ToolFailed(std::string("NVRTC: ") + api.nvrtcGetErrorString(status)));
  }
  result.failed = status == kNvrtcCompilation;
  return result;
}

}  // namespace cupilot::device::cuda
