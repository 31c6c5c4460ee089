#include "tests/daemon/host_runtime/host_program.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

namespace cupilot::test {

using ::testing::HasSubstr;

std::string HostProgram::SourceOf(const std::string& name) {
  return std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/daemon/host_runtime/programs/" + name;
}

std::string HostProgram::Compile(const std::string& source, std::vector<std::string> flags) {
  std::string key = source;
  for (const std::string& flag : flags) key += " " + flag;
  if (const auto known = compiled_.find(key); known != compiled_.end()) return known->second;
  const std::string program = *folder_ / (std::filesystem::path(source).stem().string() + "_" +
                                          std::to_string(compiled_.size()));
  std::vector<std::string> words = {CUPILOT_HOST_NVCC};
  words.insert(words.end(), flags.begin(), flags.end());
  const bool has_standard = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-std=");
  });
  if (!has_standard) words.emplace_back("-std=c++17");
  words.insert(words.end(), {source, "-o", program});
  const ProgramRun run = RunProgram(words);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  return compiled_[key] = run.exit_code == 0 ? program : "";
}

void HostProgram::ExpectAllCasesHold(const std::string& name, std::vector<std::string> flags) {
  const std::string program = Compile(SourceOf(name + ".cu"), std::move(flags));
  if (program.empty()) return;
  const ProgramRun run = RunProgram({program});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.errors, "");
  EXPECT_THAT(run.output, HasSubstr("all cases hold"));
}

ProgramRun HostProgram::RunCase(const std::string& name, const std::string& argument) {
  const std::string program = Compile(SourceOf(name + ".cu"), {"-O0"});
  return program.empty() ? ProgramRun{} : RunProgram({program, argument});
}

}  // namespace cupilot::test
