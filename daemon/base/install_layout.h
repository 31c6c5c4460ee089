// Where the parts of an installation lie, found relative to the running executable, so that a tree
// can be moved. Each folder can be set by an environment variable, which tests in a build tree do.
#pragma once

#include <string>

namespace cupilot::base {

// cupilot-worker and cupilot-launcher: $CUPILOT_LIBEXEC, else <prefix>/libexec/cupilot.
std::string LibexecFolder();

// The folder that looks like a CUDA toolkit (bin/nvcc, include/, lib64/): $CUPILOT_HOST_TOOLKIT,
// else <prefix>/lib/cupilot/host_toolkit.
std::string HostToolkitFolder();

// Data of ours (prompts, clang's headers): $CUPILOT_SHARE, else <prefix>/share/cupilot.
std::string ShareFolder();

// The prompt templates: $CUPILOT_PROMPTS, else ShareFolder()/prompts.
std::string PromptsFolder();

// <prefix>/lib/cmake/CuPilot.
std::string CmakeModuleFolder();

// The nearest folder at or above `start` that has `relative` in it; empty if there is none. What
// the functions above use, starting at ExecutableFolder().
std::string PrefixWith(const std::string& start, const std::string& relative);

}  // namespace cupilot::base
