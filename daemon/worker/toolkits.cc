#include "worker/toolkits.h"

#include "base/compiler_program.h"

namespace cupilot::worker {

std::vector<std::string> ToolkitsOf(const std::string& compiler,
                                    const std::string& compile_folder) {
  std::vector<std::string> folders;
  const std::string program = base::FindProgram(compiler, compile_folder);
  if (!program.empty()) folders = base::ToolkitFoldersOf(program);
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

}  // namespace cupilot::worker
