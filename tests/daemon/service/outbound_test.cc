// What leaves the machine of a kernel that is tuned on a program's own data.
#include <filesystem>

#include "base/base64.h"
#include "base/file.h"
#include "records/element_values.h"
#include "records/lock.h"
#include "service/capture_requests.h"
#include "service/kernel_workload.h"
#include "service/lock_document.h"
#include "service/lock_proof.h"
#include "service/report_document.h"
#include "service/storage_documents.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using records::ElementValue;
using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kText = "mysecret";
constexpr const char* kValue = "31415.9265";

class OutboundTest : public ServiceTest {
 protected:
  OutboundTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      records::Evaluation evaluation = test::MakeEvaluation(request, 1.5);
      evaluation.workload = WorkloadHash(request.workload);
      const std::string detail =
          "'out'[5]: " + records::ExpectedGot(ElementValue(kValue), ElementValue("2")) +
          "; relative error 1 of 0.01";
      evaluation.checks.push_back({"undefined", true, "as the original: " + detail});
      if (++evaluations_ == 1) {
        evaluation.accepted = false;
        evaluation.reason = "wrong_values";
        evaluation.detail = detail;
        evaluation.checks.push_back({"wrong_values", false, detail});
        evaluation.speedup.reset();
        evaluation.interval.reset();
      }
      return evaluation;
    };
  }

  void TuneOnCapture(const std::string& source = "kernel one a more=Note workload=none\n") {
    Capture(source);
    ASSERT_GT(evaluations_, 1);
  }
  // A kernel is tuned on what a program was seen to do.
  void Capture(const std::string& source = "kernel one a more=Note workload=none\n") {
    Prepare(source);
    Start();
    Drain();
    evaluations_ = 0;
    const auto place = FindKernel(*service_, "one", "");
    ASSERT_TRUE(place);
    const records::Kernel& kernel = *place->kernel;
    workloads::Captured captured;
    captured.kernel = records::LabelOf(kernel);
    captured.file = kernel.file;
    for (const records::Parameter& parameter : kernel.parameters) {
      captured.parameters.push_back(parameter.canonical);
    }
    captured.device = "host";
    captured.program = "app";
    captured.replaces_tag = true;
    captured.cases = {MakeCase()};
    captured.launches.resize(1);
    captured.launches[0].calls = 5;
    captured.launches[0].microseconds = 500;
    captured.launches[0].cases = {"seen"};
    captured.fits = fits_;
    Json list = Json::array();
    list.push_back(workloads::ToJson(captured));
    const std::string file = folder_ / "captures.json";
    ASSERT_TRUE(base::WriteFileAtomically(
        file, records::CompactJson({{"schema", "cupilot.captures/1"}, {"captures", list}})));
    const auto added =
        AddCaptures(*service_, {{"file", file}, {"folder", project_.build_folder()}});
    ASSERT_TRUE(added) << added.error().message;
    Drain();
  }

  records::Case MakeCase() {
    std::vector<float> numbers(1000);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0.001f * static_cast<float>(i % 7);
    const auto hash =
        blobs_.Put({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
    EXPECT_TRUE(hash);
    hash_ = hash.value_or("");
    records::Case one;
    one.name = "seen";
    one.weight = 500;
    one.grid = {"4", "1", "1"};
    one.block = {"256", "1", "1"};
    one.arguments.resize(3);
    one.arguments[0].name = "out";
    one.arguments[0].type = "float *";
    one.arguments[0].count = "1000";
    one.arguments[0].access = records::Access::kInOut;
    one.arguments[0].fill.emplace().kind = "file";
    one.arguments[0].fill->path = "blob:" + hash_;
    one.arguments[1].name = "n";
    one.arguments[1].type = "int";
    one.arguments[1].value = "1000";
    // A structure of which nothing is known.
    one.arguments[2].name = "more";
    one.arguments[2].type = "Note";
    one.arguments[2].bytes = base::EncodeBase64(kText);
    return one;
  }

  void ExpectNothingPrivate(const std::string& text) {
    EXPECT_THAT(text, Not(HasSubstr(kValue)));
    EXPECT_THAT(text, Not(HasSubstr(hash_)));
    EXPECT_THAT(text, Not(HasSubstr(kText)));
    EXPECT_THAT(text, Not(HasSubstr(base::EncodeBase64(kText))));
    EXPECT_THAT(text, HasSubstr("'out'[5]: differs from the original; relative error 1 of 0.01"));
  }

  std::string DocumentOf(const base::Result<Json>& reply) {
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) return {};
    const Json& document =
        reply->contains("locks") ? (*reply)["locks"].at(0)["document"] : (*reply)["document"];
    return base::ReadFile(document.get<std::string>()).value_or("");
  }
  std::string Lock() {
    return DocumentOf(LockDocument(*service_, folder_ / "source", "", folder_ / "replies"));
  }

  blobs::BlobStore blobs_{state() + "/blobs"};
  std::string hash_;
  std::map<std::string, workloads::CapturedFits> fits_;  // of what is captured
  int evaluations_ = 0;
};

TEST_F(OutboundTest, AnExportHasShapesAndNoElements) {
  TuneOnCapture();
  const std::string text = DocumentOf(
      ExportDocument(*service_, {{"folder", project_.build_folder()}}, folder_ / "replies"));
  ExpectNothingPrivate(text);
  const Json file = records::ParseJson(text).value_or(Json());
  EXPECT_THAT(text, HasSubstr("\"wrong_values\""));
  const auto place = FindKernel(*service_, "one", "");
  const std::string hash = WorkloadHash(WorkloadOf(*place->kernel));
  ASSERT_TRUE(file["workloads"].contains(hash)) << "evidence keeps the workload that was measured";
  const Json& fitted = file["workloads"][hash]["cases"][0]["arguments"][0];
  EXPECT_EQ(fitted["count"], 1000);
  EXPECT_EQ(fitted["fill"]["kind"], "uniform");
  // What was proven there is a proposal here, as ever.
  const std::string path = folder_ / "export.json";
  ASSERT_TRUE(base::WriteFileAtomically(path, text));
  const auto imported = ImportDocument(*service_, {{"file", path}});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_GT((*imported)["variants"], 0);
}

TEST_F(OutboundTest, AReportTellsOfNoElement) {
  TuneOnCapture();
  const auto place = FindKernel(*service_, "one", "");
  const auto report = ReportText(*service_, folder_ / "source");
  ASSERT_TRUE(report);
  const auto evidence =
      EvidenceDocument(*service_, {{"kernel_key", place->kernel->key},
                                   {"workload", WorkloadHash(WorkloadOf(*place->kernel))},
                                   {"from", 0u}});
  ASSERT_TRUE(evidence);
  ExpectNothingPrivate(*report + evidence->dump());
  // On the machine itself all is told.
  EXPECT_THAT(Explain("one").dump(), HasSubstr(kValue));
}

TEST_F(OutboundTest, AReportDoesNotSayWhatAReplayFoundInAnElement) {
  evaluator_.replayed["seen"] = {
      .name = "seen",
      .times = 1,
      .reason = "'out'[5]: " + records::InsteadOf(ElementValue("2"), ElementValue(kValue))};
  Capture();
  const auto report = ReportText(*service_, folder_ / "source");
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, Not(HasSubstr(kValue)));
  EXPECT_THAT(*report, HasSubstr("'out'[5]: differs from the original"));
  EXPECT_THAT(Explain("one").dump(), HasSubstr(kValue));
}

TEST_F(OutboundTest, ALockFileHasAWorkloadThatCanBeProvenElsewhere) {
  TuneOnCapture();
  const std::string text = Lock();
  ExpectNothingPrivate(text);
  EXPECT_EQ(Lock(), text);
  const auto lock = records::ParseLock(text);
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_THAT(lock->kernels, SizeIs(1));
  const records::LockedKernel& entry = lock->kernels[0];
  const auto place = FindKernel(*service_, "one", "");
  EXPECT_EQ(entry.evaluation.workload, WorkloadHash(WorkloadOf(*place->kernel)));
  ASSERT_THAT(entry.workload.cases, SizeIs(1));
  EXPECT_EQ(entry.workload.cases[0].grid, place->kernel->cases[0].grid);
  EXPECT_EQ(entry.workload.cases[0].arguments[0].fill->kind, "uniform");
  // Its tag says nothing, and nothing else has to be said.
  EXPECT_FALSE(entry.captured);
  EXPECT_THAT(text, Not(HasSubstr("\"captured\"")));
}

TEST_F(OutboundTest, WhereATagSaysAnotherWorkloadTheEntrySaysThatItWasCaptured) {
  TuneOnCapture("kernel one a more=Note\n");
  const auto lock = records::ParseLock(Lock());
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_THAT(lock->kernels, SizeIs(1));
  const records::LockedKernel& entry = lock->kernels[0];
  EXPECT_TRUE(entry.captured);
  EXPECT_EQ(records::LockText(*lock), Lock());
  // As the source's own tag has it where nothing was captured.
  records::Kernel kernel = *FindKernel(*service_, "one", "")->kernel;
  ASSERT_TRUE(DropWorkload(*service_, {{"kernel", "one"}, {"folder", project_.build_folder()}}));
  Drain();
  kernel.cases = FindKernel(*service_, "one", "")->kernel->cases;
  ASSERT_EQ(kernel.cases.at(0).name, "only");
  EXPECT_EQ(WhyKernelDiffers(entry, kernel), "");
  records::LockedKernel other = entry;
  other.captured = false;
  EXPECT_THAT(WhyKernelDiffers(other, kernel), HasSubstr("workload"));
}

TEST_F(OutboundTest, AGuardThatAsksForATextCannotLeave) {
  TuneOnCapture();
  const auto lock = records::ParseLock(Lock());
  ASSERT_TRUE(lock) << lock.error().message;
  records::LockedKernel entry = lock->kernels.at(0);
  records::Kernel kernel = *FindKernel(*service_, "one", "")->kernel;
  kernel.parameters[2].name = "note";
  kernel.parameters[2].members = {
      {"text[0]", "char", records::ParameterKind::kInteger, 0, 1, true}};
  EXPECT_TRUE(service_->outbound().Of(entry, kernel));
  entry.evaluation.guard = "(n == 4 && note.text[0] == 109)";
  const auto refused = service_->outbound().Of(entry, kernel);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'note.text'"));
  EXPECT_THAT(service_->outbound().Of(entry.evaluation).guard, Not(HasSubstr("109")));
}

// Reading them takes seconds, on the thread that answers everybody.
TEST_F(OutboundTest, ContentsOfWhichItIsKnownWhatFitsAreNotRead) {
  MakeCase();
  workloads::CapturedFit& fit = fits_["seen"]["out"];
  fit.contents = hash_;
  fit.fill.kind = "normal";
  fit.fill.mean = 3;
  fit.distribution.kind = "normal";
  TuneOnCapture();
  const auto lock = records::ParseLock(Lock());
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(lock->kernels.at(0).workload.cases.at(0).arguments.at(0).fill, fit.fill);
}

TEST_F(OutboundTest, OfContentsThatAreGoneTheShapesLeave) {
  TuneOnCapture();
  std::filesystem::remove_all(state() + "/blobs");
  const std::string text = Lock();
  ExpectNothingPrivate(text);
  const auto lock = records::ParseLock(text);
  ASSERT_TRUE(lock) << lock.error().message;
  const records::Argument& out = lock->kernels.at(0).workload.cases.at(0).arguments.at(0);
  EXPECT_EQ(out.count, "1000");
  EXPECT_EQ(out.fill->kind, "constant");
}

}  // namespace
}  // namespace cupilot::service
