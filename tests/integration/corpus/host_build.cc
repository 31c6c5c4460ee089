#include "tests/integration/corpus/host_build.h"

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::corpus {

const std::string& HostTarget(const std::string& nvcc) {
  static const std::string target = [&] {
    const test::TemporaryFolder folder;
    const std::string source =
        folder.Write("target.cu",
                     "__global__ void k() {}\nint main() { __builtin_printf(\"%s\", "
                     "cupilot_host_architecture((const void*)k)); }");
    const std::string program = folder / "target";
    (void)test::RunProgram({nvcc, "-O1", source, "-o", program});
    return test::RunProgram({program}).output;
  }();
  return target;
}

std::vector<std::string> LinkWords(const std::string& nvcc, const std::vector<Unit>& units,
                                   const std::string& program) {
  std::vector<std::string> words = {nvcc};
  for (const Unit& unit : units) words.push_back(unit.command.object);
  words.insert(words.end(), {"-o", program});
  return words;
}

std::string TextOf(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

}  // namespace cupilot::corpus
