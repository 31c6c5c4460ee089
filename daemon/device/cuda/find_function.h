// A function of a library that was opened at run time.
#pragma once

#include <dlfcn.h>

namespace cupilot::device::cuda {

// Fills the member of an interface's table (api.h); true if the library has the function.
template <class F>
bool FindFunction(void* library, const char* name, F& member) {
  member = reinterpret_cast<F>(::dlsym(library, name));
  return member != nullptr;
}

}  // namespace cupilot::device::cuda
