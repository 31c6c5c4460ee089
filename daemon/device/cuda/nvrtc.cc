#include "device/cuda/nvrtc.h"

#include <dlfcn.h>

#include <map>

#include "device/cuda/find_function.h"

namespace cupilot::device::cuda {
namespace {

constexpr NvrtcStatus kNvrtcSuccess = 0;
constexpr NvrtcStatus kNvrtcCompilation = 6;  // NVRTC_ERROR_COMPILATION

// The newest first. All of toolkit 11 from 11.2 on have one name.
constexpr const char* kLibraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};

struct Library {
  void* handle = nullptr;
  std::string folder;  // with a slash; empty: found on the loader's path
};

Library OpenLibrary(const std::string& toolkit) {
  for (const char* name : kLibraryNames) {
    for (const char* below : {"/lib64/", "/targets/x86_64-linux/lib/", "/lib/"}) {
      if (toolkit.empty()) break;
      const std::string folder = toolkit + below;
      if (void* handle = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
        return {handle, folder};
      }
    }
  }
  for (const char* name : kLibraryNames) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return {handle, {}};
  }
  return {};
}

// NVRTC opens this library when it compiles, older ones by its name alone, which the loader knows
// only where it is loaded already or on its path.
void OpenBuiltins(const Library& library, const std::string& version) {
  if (library.folder.empty()) return;
  const std::string name = library.folder + "libnvrtc-builtins.so." + version;
  (void)::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // what lacks it says so when it compiles
}

base::Result<Nvrtc> Open(const std::string& toolkit) {
  const Library library = OpenLibrary(toolkit);
  if (library.handle == nullptr) {
    return base::Fail(base::Unavailable(
        "no NVRTC (libnvrtc.so.13, .12 or .11.2) in the toolkit '" + toolkit +
        "' or on the loader's path: install the CUDA toolkit, or its package cuda-nvrtc"));
  }
  auto* api = new NvrtcApi();  // for the rest of the process's life, as the library
  const bool complete =
      FindFunction(library.handle, "nvrtcGetErrorString", api->nvrtcGetErrorString) &&
      FindFunction(library.handle, "nvrtcVersion", api->nvrtcVersion) &&
      FindFunction(library.handle, "nvrtcCreateProgram", api->nvrtcCreateProgram) &&
      FindFunction(library.handle, "nvrtcDestroyProgram", api->nvrtcDestroyProgram) &&
      FindFunction(library.handle, "nvrtcCompileProgram", api->nvrtcCompileProgram) &&
      FindFunction(library.handle, "nvrtcGetCUBINSize", api->nvrtcGetCUBINSize) &&
      FindFunction(library.handle, "nvrtcGetCUBIN", api->nvrtcGetCUBIN) &&
      FindFunction(library.handle, "nvrtcGetPTXSize", api->nvrtcGetPTXSize) &&
      FindFunction(library.handle, "nvrtcGetPTX", api->nvrtcGetPTX) &&
      FindFunction(library.handle, "nvrtcGetProgramLogSize", api->nvrtcGetProgramLogSize) &&
      FindFunction(library.handle, "nvrtcGetProgramLog", api->nvrtcGetProgramLog);
  if (!complete) return base::Fail(base::Unavailable("this NVRTC is too old: it makes no cubins"));
  int major = 0, minor = 0;
  api->nvrtcVersion(&major, &minor);
  const std::string version = std::to_string(major) + "." + std::to_string(minor);
  OpenBuiltins(library, version);
  return Nvrtc{api, version};
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
  if (status == kNvrtcSuccess && api.nvrtcGetPTXSize(program, &bytes) == kNvrtcSuccess) {
    result.ptx.resize(bytes);
    if (api.nvrtcGetPTX(program, result.ptx.data()) != kNvrtcSuccess) result.ptx.clear();
  }
  api.nvrtcDestroyProgram(&program);
  if (status != kNvrtcSuccess && status != kNvrtcCompilation) {
    return base::Fail(base::ToolFailed(std::string("NVRTC: ") + api.nvrtcGetErrorString(status)));
  }
  result.failed = status == kNvrtcCompilation;
  return result;
}

}  // namespace cupilot::device::cuda
