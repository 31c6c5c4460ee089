#include "client/commands/ask.h"

#include <filesystem>

#include "client/connection.h"

namespace cupilot::client {

base::Result<records::Json> AskDaemon(Output& output, const std::string& verb,
                                      const records::Json& params) {
  TRY_ASSIGN(Connection connection, Connection::Open(Connection::Start::kOnDemand));
  if (const std::string warning = connection.VersionWarning(); !warning.empty()) {
    output.Warning(warning);
  }
  return connection.Request(verb, params);
}

records::Json KernelParams(const std::string& kernel) {
  return {{"kernel", kernel}, {"folder", CurrentFolder()}};
}

std::string CurrentFolder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

std::string ShownPath(const std::string& path) {
  const std::string folder = CurrentFolder() + "/";
  return path.rfind(folder, 0) == 0 ? path.substr(folder.size()) : path;
}

}  // namespace cupilot::client
