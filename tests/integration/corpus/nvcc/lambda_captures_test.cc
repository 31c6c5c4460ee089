// What nvcc's object of a lambda holds, by the code that it writes, is what we write.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>

#include "base/compiler_program.h"
#include "base/file.h"
#include "source/lambda.h"
#include "source/unit.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::corpus {
namespace {

// "run::lambda_3" and its members in order, of lambdas that are tuned.
std::map<std::string, std::string> Ours(const records::CompileCommand& command) {
  std::map<std::string, std::string> members;
  const auto unit = source::LoadUnit(command, {});
  if (!unit) return members;
  for (const source::Instantiation& made : (*unit)->parsed.tree.instantiations) {
    for (const source::Lambda* lambda : source::LambdasOf(made)) {
      if (!lambda->problem.empty()) continue;
      std::string& text = members[lambda->shown];
      for (const source::Lambda::Member& member : lambda->members) text += ", " + member.name;
    }
  }
  return members;
}

// The same by the arguments of the constructors that nvcc calls: "run::lambda_3" to ", out, z".
std::map<std::string, std::string> Theirs(const std::string& text) {
  std::map<std::string, std::string> members;
  const std::regex number(R"(\(& ::run\),(?:\w+, )?([0-9]+)>)");
  const std::regex arguments(R"((?:\{\} |\} )((?:, \w+)*) ?\))");
  std::size_t begin = text.find("\nvoid run(");
  for (std::size_t at = text.find("(& ::run),", begin); at != std::string::npos;
       at = text.find("(& ::run),", begin)) {
    const std::size_t end = text.find("; \n", at);
    const std::string statement = text.substr(at, end - at);
    begin = end == std::string::npos ? text.size() : end;
    std::smatch index, list;
    if (!std::regex_search(statement, index, number) ||
        !std::regex_search(statement, list, arguments)) {
      continue;
    }
    members.emplace("run::lambda_" + index[1].str(), list[1].str());
  }
  return members;
}

TEST(LambdaCaptures, AreThoseOfNvcc) {
  const std::string nvcc = base::FindNvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const test::TemporaryFolder folder;
  records::CompileCommand command;
  command.directory = folder.path();
  command.source = std::string(CUPILOT_TEST_SOURCE_DIR) + "/tests/data/lambdas/captures.cu";
  command.object = folder.path() + "/captures.o";
  command.arguments = {nvcc,           "-std=c++17", "--extended-lambda", "-c",
                       command.source, "-o",         command.object};
  const std::map<std::string, std::string> ours = Ours(command);
  EXPECT_EQ(ours.size(), 25u);
  std::vector<std::string> words = command.arguments;
  words.insert(words.end(), {"--keep", "--keep-dir", folder.path(), "-arch=sm_90"});
  test::RunOptions options;
  options.folder = folder.path();
  const auto run = test::RunProgram(words, options);
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = file.path().filename();
    if (name.ends_with(".cudafe1.cpp")) text = base::ReadFile(file.path()).value_or("");
  }
  const std::map<std::string, std::string> theirs = Theirs(text);
  for (const auto& [lambda, members] : ours) {
    const auto found = theirs.find(lambda);
    ASSERT_NE(found, theirs.end()) << lambda;
    EXPECT_EQ(members, found->second) << lambda;
  }
}

}  // namespace
}  // namespace cupilot::corpus
