#include "client/doctor/mend.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace cupilot::client {

std::string MendText(const DoctorCheck& check) {
  switch (check.mend) {
    case DoctorCheck::Mend::kClosePrivateFolder:
      return "closed " + check.mend_path + " to other users";
    case DoctorCheck::Mend::kDropRegistration:
      return "removed " + check.mend_path + ": " + check.found;
    case DoctorCheck::Mend::kNone:
      break;
  }
  return "";
}

base::Result<> Mend(const DoctorCheck& check) {
  switch (check.mend) {
    case DoctorCheck::Mend::kClosePrivateFolder:
      if (::chmod(check.mend_path.c_str(), 0700) == 0) return {};
      return base::Fail(base::IoError(check.mend_path + ": " + std::strerror(errno)));
    case DoctorCheck::Mend::kDropRegistration:
      return base::RemoveTree(check.mend_path);
    case DoctorCheck::Mend::kNone:
      break;
  }
  return {};
}

}  // namespace cupilot::client
