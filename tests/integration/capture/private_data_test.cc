// What a program had leaves the machine only where the user asks for it, with everything real on
// the host device: a number of an array and a text in a structure are looked for in all that leaves
// of a kernel with a right variant and a wrong one.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/base64.h"
#include "base/file.h"
#include "records/export_file.h"
#include "records/lock.h"
#include "records/variant.h"
#include "tests/integration/capture/capture_fixture.h"

namespace cupilot {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kText = "MySecretPhrase16";
constexpr const char* kNumber = "27182.818";
constexpr const char* kResult = "3479400.75";  // 128 times the nearest float
constexpr const char* kTwice = "6958801.5";    // what the wrong variant makes of it

records::Variant MakeVariant(const std::string& title, const std::string& body) {
  records::Variant variant;
  variant.kernel = "times";
  variant.source =
      "__global__ void at_once(const float* in, float* out, Note note) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
      body + "\n}\n";
  variant.entry = "at_once";
  variant.strategy.emplace().title = title;
  variant.id = records::VariantId(variant);
  return variant;
}

class PrivateDataTest : public BuiltProjectTest {
 protected:
  PrivateDataTest() : BuiltProjectTest(CUPILOT_PRIVATE_PROJECT) {
    xdg_.folder().Write("secret.txt", std::string(kText) + " 27182.8184");
  }

  // As another machine's export has it: that it was accepted there says nothing here.
  void Propose(const records::Variant& variant) {
    records::Evaluation evaluation;
    evaluation.variant = variant.id;
    evaluation.kernel_key = key_;
    evaluation.accepted = true;
    evaluation.speedup = 2;
    evaluation.interval = {1.9, 2.1};
    evaluation.device.arch = "host-x86-64-v3";
    records::ExportFile file;
    file.kernels = {{key_, {{variant, {evaluation}}}, {}}};
    const std::string path =
        xdg_.folder().Write(variant.id + ".json", records::PrettyJson(records::ToJson(file)));
    Succeed({CUPILOT_PROGRAM, "import", path});
  }
  // Of a variant's evaluations here; null: none yet.
  Json EvidenceOf(const std::string& variant) {
    const Json history = Ask({"history", "times"});
    for (const Json& one : history["evaluations"]) {
      if (one["variant"] == variant) return one;
    }
    return nullptr;
  }
  void ExpectNothingPrivate(const std::string& what, const std::string& text) {
    EXPECT_FALSE(text.empty()) << what;
    const std::string base64 = base::EncodeBase64(std::string(kText).substr(0, 15));
    for (const std::string& secret :
         {std::string(kText), base64, std::string(kNumber), std::string(kResult),
          std::string(kTwice), std::string("blob:"), std::string("[0] == 77")}) {
      EXPECT_THAT(text, Not(HasSubstr(secret))) << what;
    }
  }

  std::string key_;
};

TEST_F(PrivateDataTest, StaysWhereItIs) {
  ASSERT_TRUE(WaitFor([&] { return Row("times").value("state", "") == "no workload"; }));
  key_ = Ask({"explain", "times"})["kernel_key"];
  const records::Variant right =
      MakeVariant("right", "if (i < note.n) out[i] = in[i] * (float)note.m;");
  const records::Variant wrong = MakeVariant(
      "wrong", "if (i < note.n) out[i] = in[i] * (float)note.m * (i == 7 ? 2.0f : 1.0f);");
  Propose(wrong);
  Propose(right);
  Succeed({CUPILOT_PROGRAM, "capture", "--", "./app", xdg_.folder() / "secret.txt"});
  ASSERT_TRUE(WaitFor([&] {
    return EvidenceOf(wrong.id).is_object() && EvidenceOf(right.id).is_object() &&
           Row("times").value("published", false) && Row("times").value("state", "") == "done";
  })) << Row("times").dump()
      << Ask({"explain", "times"}).dump();
  EXPECT_EQ(EvidenceOf(right.id)["verdict"], "accepted") << EvidenceOf(right.id).dump();
  // On the machine itself all is told: else this would look for nothing.
  EXPECT_EQ(EvidenceOf(wrong.id)["reason"], "wrong_values");
  EXPECT_THAT(EvidenceOf(wrong.id).dump(), HasSubstr(kResult));
  EXPECT_THAT(Ask({"workload", "show", "times"}).dump(), HasSubstr("blob:"));

  Succeed({CUPILOT_PROGRAM, "export", "-o", "all.json"});
  const std::string exported = base::ReadFile(build() + "/all.json").value_or("");
  ExpectNothingPrivate("export", exported);
  EXPECT_THAT(exported, HasSubstr("'out'[7]: differs from the original"));
  Succeed({CUPILOT_PROGRAM, "report", "-o", "report.html"});
  ExpectNothingPrivate("report", base::ReadFile(build() + "/report.html").value_or(""));
  Succeed({CUPILOT_PROGRAM, "workload", "export", "times", "-o", "shapes.json"});
  ExpectNothingPrivate("workload", base::ReadFile(build() + "/shapes.json").value_or(""));
  const std::string lock_file = xdg_.folder() / "source/cupilot.lock";
  Succeed({CUPILOT_PROGRAM, "lock"});
  const std::string locked = base::ReadFile(lock_file).value_or("");
  ExpectNothingPrivate("lock", locked);
  Succeed({CUPILOT_PROGRAM, "lock"});
  EXPECT_EQ(base::ReadFile(lock_file).value_or(""), locked) << "another text each time";

  // Another machine has not its contents, and proves it on what the entry says of them.
  std::filesystem::remove_all(xdg_.state() + "/blobs");
  const auto verified = Run({CUPILOT_PROGRAM, "lock", "--verify", "-o", lock_file});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, HasSubstr("holds")) << verified.output;
}

}  // namespace
}  // namespace cupilot
