// cupilotd: reads how it is to run, and runs that way: as the service (run_service.h), for the most
// part detached from who started it, or for one request (run_once.h).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "activation.h"
#include "base/error.h"
#include "base/paths.h"
#include "model_providers.h"
#include "options.h"
#include "parts.h"
#include "priorities.h"
#include "run_once.h"
#include "run_service.h"
#include "service/settings.h"

namespace cupilot {
namespace {

// For the end of a daemon that makes way: it ends what it measures.
constexpr std::chrono::minutes kMostWait{3};

int Complain(const base::Error& error) {
  std::fprintf(stderr, "cupilotd: %s\n", error.message.c_str());
  return kEnvironment;
}

// The starter gets the reason of a failed start; what runs on has no descriptor and no session of
// it.
int Detach(const base::UserFolders& folders, const service::Settings& settings,
           const ServiceStart& start) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return Complain(base::IoError("pipe"));
  const pid_t child = ::fork();
  if (child < 0) return Complain(base::IoError("fork"));
  if (child > 0) {
    ::close(report[1]);
    std::string reason;
    char buffer[512];
    for (ssize_t n = 0; (n = ::read(report[0], buffer, sizeof buffer)) > 0;) {
      reason.append(buffer, static_cast<std::size_t>(n));
    }
    if (reason == "ready") return 0;
    return Complain(base::Unavailable(reason.empty() ? "it ended before it was ready" : reason));
  }
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null, file);
  const int keep = ::fcntl(report[1], F_DUPFD_CLOEXEC, 10);
  ::close_range(3, static_cast<unsigned>(keep - 1), 0);
  ::close_range(static_cast<unsigned>(keep + 1), ~0u, 0);
  if (::chdir("/") != 0) return kEnvironment;
  return RunService(folders, settings, start, [keep](const std::string& reason) {
    const std::string text = reason.empty() ? "ready" : reason;
    (void)!::write(keep, text.data(), text.size());
    ::close(keep);
  });
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--version") {
    std::puts("cupilotd " CUPILOT_VERSION);
    return 0;
  }
  if (mode == "--help") {
    std::fputs(DaemonUsage().c_str(), stdout);
    return 0;
  }
  const bool detached = mode.empty() || mode == "--take-over";
  if (argc > 2 || !(detached || mode == "--foreground" || mode == "--once")) {
    std::fputs(DaemonUsage().c_str(), stderr);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const auto folders = base::FindUserFolders();
  if (!folders) return Complain(folders.error());
  const auto settings = service::ReadSettings(folders->config);
  if (!settings) return Complain(settings.error());
  // Workers, and what they start, inherit it.
  if (settings->require_sandbox) ::setenv("CUPILOT_REQUIRE_SANDBOX", "1", 1);
  // Of a program that is captured we are no part, though it may have started us.
  for (const char* name : {"CUPILOT_CAPTURE", "CUDA_INJECTION64_PATH", "CUPILOT_DISABLE"}) {
    ::unsetenv(name);
  }
  RaiseFileLimit();
  if (mode == "--once") return RunOnce(*folders, *settings);
  GiveWay(settings->io_class);
  ServiceStart start;
  if (detached) {
    if (!mode.empty()) start.patience = kMostWait;
    return Detach(*folders, *settings, start);
  }
  const auto given = GivenSocket(folders->runtime + "/daemon.sock");
  if (!given) return Complain(given.error());
  start.socket = *given;
  if (start.socket >= 0) start.patience = kMostWait;
  return RunService(*folders, *settings, start, [](const std::string& reason) {
    std::fprintf(stderr, "cupilotd: %s\n", reason.empty() ? "ready" : reason.c_str());
  });
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) { return cupilot::Main(argc, argv); }
