// Which program a compiler's name stands for: it may be a link, or a script that starts another
// compiler. Reads the file system and PATH; starts nothing.
#pragma once

#include <string>
#include <vector>

namespace cupilot::base {

// The program that `word` names: below `folder` if it has a slash, else the first on PATH. Empty if
// there is none there.
std::string FindProgram(const std::string& word, const std::string& folder);

// The programs named nvcc where CUDA toolkits are usually found, in this order: on PATH, in
// CUDA_PATH and CUDA_HOME, in /usr/local/cuda. One may be cuPilot's own, for the host device.
std::vector<std::string> NvccPrograms();
// The first of them that is a CUDA toolkit's; empty if there is none.
std::string FindNvcc();

// Whether a program is, or stands for, the compiler of a cuPilot's toolkit for the host device.
bool IsHostCompiler(const std::string& program);

// `program` with its links resolved, then itself if that is another path, then, where it is a
// script ("#!"), the programs of the same name that its text names by absolute paths, likewise. A
// toolkit's headers lie beside one of these.
std::vector<std::string> ProgramsBehind(const std::string& program);

// Theirs: .../cuda for .../cuda/bin/nvcc. Each once, in the same order.
std::vector<std::string> ToolkitFoldersOf(const std::string& program);

}  // namespace cupilot::base
