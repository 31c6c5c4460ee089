// A build of the user's, as the launcher shows it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace cupilot::test {

class RunningBuild {
 public:
  explicit RunningBuild(const std::string& build_folder)
      : file_(::open((build_folder + "/cupilot/build.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                     0600)) {
    EXPECT_EQ(::flock(file_, LOCK_SH), 0);
    EXPECT_EQ(::futimens(file_, nullptr), 0);
  }
  RunningBuild(const RunningBuild&) = delete;
  RunningBuild& operator=(const RunningBuild&) = delete;
  ~RunningBuild() { ::close(file_); }

 private:
  int file_;
};

}  // namespace cupilot::test
