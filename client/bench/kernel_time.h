// How long a program's kernels run, all of them: measured by the runtime of the host device or by
// the injection library, as `cupilot capture` does it. They see each launch, which takes time: of a
// run that is measured so the wall time says nothing.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/recording_folder.h"

namespace cupilot::client {

class KernelClock {
 public:
  static base::Result<KernelClock> Make();
  // Of a program whose kernels are to be timed.
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Seconds that the kernels of all its processes took; none where nobody saw a launch.
  std::optional<double> Seconds() const;

 private:
  KernelClock(RecordingFolder folder, std::map<std::string, std::string> environment)
      : folder_(std::move(folder)), environment_(std::move(environment)) {}

  RecordingFolder folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace cupilot::client
