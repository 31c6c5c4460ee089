// A compile as it can be compared on another machine and in another checkout: flags and files
// without this machine's paths, the compiler by its version.
#pragma once

#include <string>
#include <vector>

#include "records/compile_command.h"

namespace cupilot::source {

// Absolute, without a slash at the end.
struct ProjectFolders {
  std::string lock;    // of the lock file: paths are relative to it
  std::string source;  // of the project; may be empty
  std::string build;   // may be empty
};

// "src/a.cu", "../src/a.cu", "<build>/a.h"; empty for what lies outside the project.
std::string PortablePath(const std::string& path, const ProjectFolders& folders);
// The way back; paths of other kinds stay as they are.
std::string ActualPath(const std::string& portable, const ProjectFolders& folders);

// The folders that the compile searches for headers, absolute, in the compiler's order: its own and
// the toolkit's excepted.
std::vector<std::string> IncludeFolders(const records::CompileCommand& command);

// The file as an entry names it: PortablePath(), or "<include>/x.h" for what an include folder
// outside the project holds, or the path itself.
std::string PortableFile(const std::string& path, const ProjectFolders& folders,
                         const std::vector<std::string>& include_folders);
// The file for this compile; empty if there is none.
std::string ActualFile(const std::string& portable, const ProjectFolders& folders,
                       const std::vector<std::string>& include_folders);

// What of the command may change the code of a kernel and is not found out otherwise: without the
// compiler, the source, architectures (an entry has a target) and include folders outside the
// project (its files are compared). Those of the environment (NVCC_APPEND_FLAGS) included.
std::vector<std::string> PortableFlags(const records::CompileCommand& command,
                                       const ProjectFolders& folders);
// Such flags for this machine.
std::vector<std::string> ActualFlags(const std::vector<std::string>& flags,
                                     const ProjectFolders& folders);

// "nvcc 13.0.48": what decides which code the compiler makes, as it says itself; where it cannot be
// asked, as its toolkit does. With the host device's compiler also the major version of the C++
// compiler behind it. Empty if it is not known.
std::string CompilerVersion(const records::CompileCommand& command);

// Whether the compile makes the code of an entry's target. Where the command leaves that to the
// machine (-arch=native) each GPU's target counts: the hook takes the one that is loaded.
// `version`: CompilerVersion().
bool MakesTarget(const records::CompileCommand& command, const std::string& version,
                 const std::string& target);

}  // namespace cupilot::source
