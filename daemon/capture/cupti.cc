#include "capture/cupti.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace cupilot::capture {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                  "libcupti.so"};

bool Load(void* library, Cupti& cupti) {
  bool found = true;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
#define CUPILOT_FIND(name) find(#name, cupti.name)
  found &= CUPILOT_FIND(cuptiSubscribe);
  found &= CUPILOT_FIND(cuptiEnableCallback);
  found &= CUPILOT_FIND(cuptiGetCallbackName);
  found &= CUPILOT_FIND(cuptiGetResultString);
  found &= CUPILOT_FIND(cuptiActivityRegisterCallbacks);
  found &= CUPILOT_FIND(cuptiActivityEnable);
  found &= CUPILOT_FIND(cuptiActivityGetNextRecord);
  found &= CUPILOT_FIND(cuptiActivityFlushAll);
  found &= CUPILOT_FIND(cuptiActivitySetAttribute);
  CUPILOT_FIND(cuptiActivityFlushPeriod);
#undef CUPILOT_FIND
  return found;
}

// Where toolkits lie that no search path names; newest last, as a shell sorts.
std::vector<std::string> ToolkitFiles() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) folders.emplace_back(home);
  }
  folders.emplace_back("/usr/local/cuda");
  glob_t found{};
  if (::glob("/usr/local/cuda-*", 0, nullptr, &found) == 0) {
    for (std::size_t i = found.gl_pathc; i > 0; --i) folders.emplace_back(found.gl_pathv[i - 1]);
  }
  ::globfree(&found);
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    for (const char* below : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"}) {
      for (const char* name : kNames) files.push_back(folder + below + name);
    }
  }
  return files;
}

int TakeIfCupti(dl_phdr_info* object, std::size_t, void* found) {
  const std::string path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const std::string file = path.substr(path.rfind('/') + 1);
  // Also as bundles rename it: "libcupti-1a2b3c4d.so.12".
  if (file.rfind("libcupti", 0) != 0) return 0;
  *static_cast<std::string*>(found) = path;
  return 1;
}

}  // namespace

std::string LoadedCupti() {
  std::string path;
  ::dl_iterate_phdr(&TakeIfCupti, &path);
  return path;
}

bool FindCupti(const std::string& path, Cupti& cupti,
               const std::function<CuptiChoice(const Cupti&, std::string& reason)>& choose,
               std::string& reason) {
  reason = "no libcupti was found: it comes with CUDA toolkits, in extras/CUPTI/lib64";
  CuptiChoice choice = CuptiChoice::kAnother;
  const auto decided = [&](const std::string& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr && Load(library, cupti)) choice = choose(cupti, reason);
    return choice != CuptiChoice::kAnother;
  };
  // The driver serves one of them only.
  if (const std::string loaded = LoadedCupti(); !loaded.empty()) {
    return decided(loaded) && choice == CuptiChoice::kThis;
  }
  if (!path.empty() && decided(path)) return choice == CuptiChoice::kThis;
  for (const char* name : kNames) {
    if (decided(name)) return choice == CuptiChoice::kThis;
  }
  for (const std::string& file : ToolkitFiles()) {
    if (decided(file)) break;
  }
  return choice == CuptiChoice::kThis;
}

}  // namespace cupilot::capture
