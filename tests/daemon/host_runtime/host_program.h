// CUDA programs compiled by the host toolkit's nvcc of this build tree, each once a process, since
// a compile costs seconds.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::test {

class HostProgram : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { folder_ = new TemporaryFolder; }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
    compiled_.clear();
  }

  static const TemporaryFolder& folder() { return *folder_; }

  // The program made of a source; a failed compile fails the test and gives "".
  static std::string Compile(const std::string& source, std::vector<std::string> flags = {"-O1"});
  // The path of programs/NAME.
  static std::string SourceOf(const std::string& name);
  // Compiles programs/NAME.cu, runs it, and expects what checks.h prints when all is well.
  static void ExpectAllCasesHold(const std::string& name, std::vector<std::string> flags = {"-O1"});
  // Compiles programs/NAME.cu (-O0) and runs one of its cases, which ends the process as it likes.
  static ProgramRun RunCase(const std::string& name, const std::string& argument);

 private:
  static inline TemporaryFolder* folder_ = nullptr;
  static inline std::map<std::string, std::string> compiled_;  // by source and flags
};

}  // namespace cupilot::test
