// CAPTURE_TEST with everything real, on the host device: the daemon runs the project's tests by
// itself, tunes on what they show, and runs them again for a kernel with other parameters.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/integration/capture/capture_fixture.h"

namespace cupilot {
namespace {

using records::Json;
using ::testing::HasSubstr;

class CaptureByTestTest : public BuiltProjectTest {
 protected:
  CaptureByTestTest() : BuiltProjectTest(CUPILOT_TESTED_PROJECT) {}

  bool IsTuned(const std::string& kernel) {
    const Json row = Row(kernel);
    return row.value("tried", 0) > 0 || row.value("state", "") == "done";
  }
  void Replace(std::string& text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  }
};

TEST_F(CaptureByTestTest, TestsShowWhatKernelsAreTunedOn) {
  ASSERT_TRUE(WaitFor([&] { return IsTuned("squares"); })) << Row("squares").dump();
  // By the test of that name, and by no other.
  Json shown = Ask({"workload", "show", "squares"});
  EXPECT_EQ(shown["parameters"].size(), 4u);
  ASSERT_EQ(shown["launches"].size(), 1u) << shown.dump();
  for (const Json& argument : shown["workload"]["cases"][0]["arguments"]) {
    if (argument["name"] != "columns") continue;
    EXPECT_THAT(argument["value"].dump(), HasSubstr("64"));
  }

  // The other target's fails, and says where to look.
  ASSERT_TRUE(WaitFor([&] {
    return Row("add").value("why", "").find("the capture test 'other' failed (exit 1): see ") !=
           std::string::npos;
  })) << Row("add").dump();
  const std::string why = Row("add")["why"];
  const std::size_t begin = why.find("see /") + 4;
  const std::string log = why.substr(begin, why.find(';', begin) - begin);
  EXPECT_THAT(base::ReadFile(log).value_or(log), HasSubstr("wanted.txt"));
  struct stat status{};
  const std::string folder = log.substr(0, log.rfind('/'));
  ASSERT_EQ(::stat(folder.c_str(), &status), 0) << folder;
  EXPECT_EQ(status.st_mode & 0777u, 0700u) << "open to others";

  // After the next configure it is run again.
  xdg_.folder().Write("source/wanted.txt", "here\n");
  Succeed({"cmake", "-S", xdg_.folder() / "source", "-B", build()});
  EXPECT_TRUE(WaitFor([&] { return IsTuned("add"); })) << Row("add").dump();

  // Another parameter: what was captured is dropped, and captured anew of the next build.
  const std::string source = xdg_.folder() / "source/main.cu";
  std::string text = base::ReadFile(source).value_or("");
  Replace(text, "int rows, int columns)", "int rows, int columns, float start)");
  Replace(text, "float sum = 0;", "float sum = start;");
  Replace(text, "(in, out, rows, columns)", "(in, out, rows, columns, 0.5f)");
  xdg_.folder().Write("source/main.cu", text);
  EXPECT_TRUE(WaitFor([&] {
    return Row("squares").value("why", "").find("waits for the next build") != std::string::npos;
  })) << Row("squares").dump();
  EXPECT_EQ(Ask({"workload", "list"})["workloads"].size(), 1u);
  Succeed({"cmake", "--build", build()});
  EXPECT_TRUE(WaitFor([&] { return IsTuned("squares"); })) << Row("squares").dump();
  shown = Ask({"workload", "show", "squares"});
  EXPECT_EQ(shown["parameters"].size(), 5u) << shown.dump();
}

}  // namespace
}  // namespace cupilot
