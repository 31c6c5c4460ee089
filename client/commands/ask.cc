#include "client/commands/ask.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "client/connection.h"

namespace cupilot::client {

namespace {

constexpr std::chrono::milliseconds kPause{50};
constexpr int kMostPauses = 200;  // ten seconds

base::Result<Connection> Connect(Output& output) {
  TRY_ASSIGN(Connection connection, Connection::Open(Connection::Start::kOnDemand));
  if (const std::string warning = connection.VersionWarning(); !warning.empty()) {
    output.Warning(warning);
  }
  return connection;
}

// Sources that will be read soon. A running build of the user is waited for by nobody.
std::int64_t SoonRead(const base::Result<records::Json>& status) {
  if (!status || records::TextAt(*status, "idle_reason") == "build running") return 0;
  return status->value("unread", std::int64_t{0});
}

}  // namespace

base::Result<records::Json> AskDaemon(Output& output, const std::string& verb,
                                      const records::Json& params) {
  TRY_ASSIGN(Connection connection, Connect(output));
  return connection.Request(verb, params);
}

base::Result<records::Json> AskWhenRead(Output& output, const std::string& verb,
                                        const records::Json& params) {
  TRY_ASSIGN(Connection connection, Connect(output));
  std::int64_t unread = SoonRead(connection.Request("status"));
  for (int pause = 0; unread > 0 && pause < kMostPauses; ++pause) {
    std::this_thread::sleep_for(kPause);
    unread = SoonRead(connection.Request("status"));
  }
  if (unread > 0) {
    output.Warning("the daemon has not read " + std::to_string(unread) +
                   (unread == 1 ? " source" : " sources") + " yet; ask again later");
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
