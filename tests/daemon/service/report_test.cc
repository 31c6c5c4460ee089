// The data of `cupilot report`.
#include "service/report_document.h"

#include "base/file.h"
#include "base/hash.h"
#include "service/report_rows.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/make_records.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::HasSubstr;

TEST(EvidenceRowTest, ARejectionShowsItsSlowestCase) {
  records::Evaluation evaluation;
  evaluation.reason = "not_faster";
  evaluation.device.arch = "host-x86-64-v3";
  evaluation.cases = {test::MakeCaseResult("a", 1.2), test::MakeCaseResult("b", 0.8),
                      records::LeftToOriginal("c")};
  evaluation.checks = {{"whitelist", true, "", {}}, {"race", false, "two threads", {}}};
  const Json row = EvidenceRow(evaluation, true);
  EXPECT_EQ(row["verdict"], "rejected");
  EXPECT_EQ(row["speedup"], 0.8);
  EXPECT_EQ(row["interval"].size(), 2u);
  EXPECT_EQ(row["times"], "CPU times");
  EXPECT_EQ(row["checks"]["passed"], Json({"whitelist"}));
  EXPECT_EQ(row["checks"]["failed"][0]["detail"], "two threads");
  EXPECT_EQ(row["cases"][2]["admitted"], false);
  evaluation.cases.clear();
  EXPECT_TRUE(EvidenceRow(evaluation, false)["speedup"].is_null());
}

TEST(RooflineRowsTest, CountersFloorAndTrafficOfEachCaseOnce) {
  records::Evaluation evaluation;
  evaluation.cases = {test::MakeCaseResult("a", 2), test::MakeCaseResult("a", 3),
                      test::MakeCaseResult("b", 2), test::MakeCaseResult("c", 2)};
  evaluation.cases[0].floor_us = 10;
  evaluation.metrics["case a"]["roofline"] = {
      {"source", "cupti"},
      {"necessary", {{"read", 1000}, {"written", 24}}},
      {"original",
       {{"operations", {{"fp32", 5.0}, {"fp64", 2.0}, {"integer", 100.0}}},
        {"counters", {{"dram__bytes_read.sum", 2000.0}, {"dram__bytes_write.sum", 48.0}}},
        {"bound", "dram"},
        {"share", 0.5}}},
      {"variant", {{"bound", "latency"}}}};
  evaluation.metrics["case b"]["necessary"] = {{"read", 7}, {"written", 0}};
  const Json rows = RooflineRows(evaluation);
  ASSERT_EQ(rows.size(), 2u);  // nothing is known of c
  EXPECT_EQ(rows[0]["counted"], true);
  EXPECT_EQ(rows[0]["floor_us"], 10);
  EXPECT_EQ(rows[0]["original"]["us"], 100);
  EXPECT_EQ(rows[0]["original"]["operations"], 7);
  EXPECT_EQ(rows[0]["original"]["bytes"], 2048);
  EXPECT_EQ(rows[0]["variant"]["us"], 50);
  EXPECT_EQ(rows[0]["variant"]["bytes"], 1024);
  EXPECT_FALSE(rows[0]["variant"].contains("operations"));
  EXPECT_EQ(rows[1]["necessary_bytes"], 7);
  EXPECT_EQ(rows[1]["counted"], false);
  EXPECT_TRUE(rows[1]["floor_us"].is_null());
}

class ReportTest : public ServiceTest {
 protected:
  void Tune(const std::string& source_text) {
    Prepare(source_text);
    Start();
    Drain();
  }
  Json Report() {
    const auto text = ReportText(*service_, Folder());
    EXPECT_TRUE(text);
    const auto document = records::ParseJson(text ? *text : "{}");
    EXPECT_TRUE(document);
    return document ? *document : Json::object();
  }
  std::string Folder() const { return service_->projects().begin()->second.source_folder; }
};

TEST_F(ReportTest, HoldsWhatIsKnownOfEachKernel) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = test::MakeEvaluation(request, 1.5);
    for (const records::CaseResult& result : evaluation.cases) {
      evaluation.metrics["case " + result.name]["necessary"] = {{"read", 4096}, {"written", 0}};
    }
    return evaluation;
  };
  Tune("kernel two b\nkernel one a\n");
  const Json report = Report();
  EXPECT_EQ(report["schema"], "cupilot.report/1");
  EXPECT_EQ(report["project"], Folder());
  EXPECT_EQ(report["models"]["schema"], "cupilot.models/1");
  EXPECT_EQ(report["devices"][0]["times"], "CPU times");
  ASSERT_EQ(report["kernels"].size(), 2u);
  const Json& kernel = report["kernels"][0];
  EXPECT_EQ(kernel["kernel"], "two") << "in the order of the file";
  EXPECT_EQ(kernel["line"], 1);
  EXPECT_GT(kernel["speedup"], 1.4);
  EXPECT_EQ(kernel["device"]["times"], "CPU times");
  ASSERT_FALSE(kernel["winners"].empty());
  const Json& winner = kernel["winners"][0];
  EXPECT_EQ(winner["evaluation"]["variant"], winner["id"]);
  EXPECT_FALSE(winner["source"].get<std::string>().empty());
  const auto evidence = EvidenceDocument(
      *service_,
      {{"kernel_key", kernel["kernel_key"]}, {"workload", kernel["workload"]}, {"from", 0u}});
  ASSERT_TRUE(evidence);
  EXPECT_EQ((*evidence)["evaluations"].size(), kernel["verdicts"]);
  EXPECT_EQ((*evidence)["evaluations"][0]["current"], true);
  EXPECT_TRUE((*evidence)["next"].is_null());
  std::set<std::string> variants;
  for (const Json& variant : (*evidence)["variants"]) variants.insert(variant["id"]);
  EXPECT_EQ(variants.count(winner["id"]), 1u);
  for (const Json& row : (*evidence)["evaluations"]) EXPECT_EQ(variants.count(row["variant"]), 1u);
  ASSERT_EQ(kernel["roofline"].size(), 1u);
  EXPECT_EQ(kernel["roofline"][0]["necessary_bytes"], 4096);
  EXPECT_EQ(kernel["no_roofline"], "");
  EXPECT_EQ(kernel["model_dollars"], 0);
}

TEST_F(ReportTest, EvidenceComesInPagesThatMessagesHold) {
  Tune("kernel one a\n");
  const std::string key = service_->objects().begin()->second.scan->kernels[0].key;
  const std::size_t before = service_->catalog().CountEvaluations(key);
  for (int i = 0; i < 120; ++i) {
    records::Variant variant;
    variant.kernel = "one";
    variant.source = std::to_string(i);
    variant.entry = "one";
    variant.id = records::VariantId(variant);
    records::Evaluation evaluation;
    evaluation.variant = variant.id;
    evaluation.kernel_key = key;
    evaluation.date = "2100-01-01T00:00:00Z";
    evaluation.reason = "build_failed";
    evaluation.detail = std::string(100'000, 'x');
    ASSERT_TRUE(service_->catalog().SaveVerdict(variant, evaluation));
  }
  std::set<std::string> seen;
  std::size_t rows = 0;
  Json from = 0u;
  for (int pages = 0; !from.is_null(); ++pages) {
    ASSERT_LT(pages, 100);
    const auto page = EvidenceDocument(*service_, {{"kernel_key", key}, {"from", from}});
    ASSERT_TRUE(page);
    EXPECT_LT(records::CompactJson(*page).size(), 1u << 20);
    EXPECT_LE((*page)["evaluations"].size(), 50u);
    rows += (*page)["evaluations"].size();
    for (const Json& variant : (*page)["variants"]) seen.insert(variant["id"]);
    from = (*page)["next"];
  }
  EXPECT_EQ(rows, before + 120);
  EXPECT_EQ(seen.size(), before + 120);
  for (const Json& wrong : {Json{{"from", 0u}}, Json{{"kernel_key", key}, {"from", -1}},
                            Json{{"kernel_key", key}, {"from", "x"}}}) {
    const auto page = EvidenceDocument(*service_, wrong);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, base::ErrorCode::kInvalidArgument);
  }
}

TEST_F(ReportTest, EqualDataAreEqualBytes) {
  Tune("kernel one a\n");
  const auto first = ReportText(*service_, Folder());
  const auto second = ReportText(*service_, Folder());
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(*first, *second);
}

TEST_F(ReportTest, AKernelWithoutDataSaysWhy) {
  judge_ = [](const evaluate::EvaluateRequest& request) {
    return test::MakeEvaluation(request, 0.9);
  };
  Tune("kernel one a\n");
  const Json kernel = Report()["kernels"][0];
  EXPECT_TRUE(kernel["winners"].empty());
  EXPECT_TRUE(kernel["roofline"].empty());
  EXPECT_THAT(kernel["no_roofline"].get<std::string>(), HasSubstr("was not measured"));
  EXPECT_FALSE(kernel["why_not"].get<std::string>().empty());
}

TEST_F(ReportTest, TheOriginalIsShownAsWrittenWhileTheFileIsWhatWasRead) {
  Tune("kernel one a\n");
  const Json as_compiled = Report()["kernels"][0]["original"];
  EXPECT_EQ(as_compiled["as_written"], false) << "these kernels say no ranges";
  EXPECT_THAT(as_compiled["text"].get<std::string>(), HasSubstr("kernel one"));
  EXPECT_THAT(as_compiled["note"].get<std::string>(), HasSubstr("as the compiler sees it"));

  records::Kernel kernel;
  kernel.file = folder_ / "k.cu";
  kernel.line = 3;
  kernel.closure_source = "expanded";
  const std::string text = "int a;\n// tag\n__global__ void k() {\n}\nint b;\n";
  const std::string part = "__global__ void k() {\n}";
  ASSERT_TRUE(base::WriteFileAtomically(kernel.file, text));
  const auto begin = static_cast<std::int64_t>(text.find(part));
  kernel.closure = {
      {kernel.file, 0, 6, base::HashHex("int a;")},
      {kernel.file, begin, begin + static_cast<std::int64_t>(part.size()), base::HashHex(part)}};
  EXPECT_EQ(OriginalOf(kernel)["text"], part);
  EXPECT_EQ(OriginalOf(kernel)["line"], 3);
  EXPECT_EQ(OriginalOf(kernel)["as_written"], true);
  ASSERT_TRUE(base::WriteFileAtomically(kernel.file, "\n" + text));
  EXPECT_EQ(OriginalOf(kernel)["text"], "expanded");
  ASSERT_TRUE(base::WriteFileAtomically(kernel.file, ""));
  EXPECT_EQ(OriginalOf(kernel)["text"], "expanded");
}

TEST_F(ReportTest, AFolderThatNoProjectContainsIsNotFound) {
  Tune("kernel one a\n");
  for (const char* folder : {"/elsewhere", ""}) {
    const auto reply = ReportReply(*service_, folder, state());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, base::ErrorCode::kNotFound);
    EXPECT_THAT(reply.error().message, HasSubstr("configure and build it once"));
  }
}

TEST_F(ReportTest, TheReplyNamesAFile) {
  Tune("kernel one a\n");
  Requests requests(*service_, state(), [] {});
  const Json message = {{"id", 1}, {"verb", "report"}, {"params", {{"folder", Folder()}}}};
  const auto reply = records::ParseJson(requests.Handle("peer", message.dump()));
  ASSERT_TRUE(reply);
  const Json result = (*reply)["result"];
  EXPECT_EQ(result["schema"], "cupilot.reported/1");
  const auto text = base::ReadFile(result["document"].get<std::string>());
  ASSERT_TRUE(text);
  EXPECT_EQ(*records::ParseJson(*text), Report());
}

}  // namespace
}  // namespace cupilot::service
