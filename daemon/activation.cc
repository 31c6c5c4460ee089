#include "activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace cupilot {
namespace {

constexpr int kFirst = 3;

std::string TakeVariable(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

base::Error Unfit(const std::string& what, const std::string& path) {
  return base::InvalidArgument("the socket that was handed over (LISTEN_FDS) " + what +
                               "; its unit needs ListenStream=" + path);
}

bool Listens(int file) {
  int listens = 0;
  socklen_t size = sizeof listens;
  return ::getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

}  // namespace

base::Result<int> GivenSocket(const std::string& path) {
  const std::string pid = TakeVariable("LISTEN_PID"), count = TakeVariable("LISTEN_FDS");
  (void)TakeVariable("LISTEN_FDNAMES");
  if (count.empty() || pid != std::to_string(::getpid())) return -1;
  if (count != "1") return base::Fail(Unfit("is not one, but " + count, path));
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(kFirst, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return base::Fail(Unfit(std::string("is none: ") + std::strerror(errno), path));
  }
  if (address.sun_family != AF_UNIX || !Listens(kFirst)) {
    return base::Fail(Unfit("is no Unix socket that listens", path));
  }
  address.sun_path[sizeof address.sun_path - 1] = '\0';
  if (path != address.sun_path) {
    return base::Fail(
        Unfit("is at " + std::string(address.sun_path) + ", where no client looks", path));
  }
  ::fcntl(kFirst, F_SETFD, FD_CLOEXEC);
  return kFirst;
}

}  // namespace cupilot
