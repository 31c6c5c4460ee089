// client/SCHEMAS.md says of every key of the daemon's documents, at every depth, and of none that
// they do not have.
#include <gmock/gmock.h>

#include "base/file.h"
#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/schema_pages.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class SchemaKeysTest : public ServiceTest {
 protected:
  Json Result(const std::string& verb, const Json& params) {
    const std::string text =
        requests_->Handle("peer", Json{{"id", 1}, {"verb", verb}, {"params", params}}.dump());
    const Json reply = records::ParseJson(text).value_or(Json());
    if (!reply.contains("result")) ADD_FAILURE() << verb << ": " << text;
    return reply.value("result", Json::object());
  }
  // The report as the client makes it of its parts.
  Json WithEvidence(const std::string& path) {
    Json report = records::ParseJson(base::ReadFile(path).value()).value();
    for (Json& kernel : report["kernels"]) {
      const Json page = Result(
          "report_evidence",
          {{"kernel_key", kernel["kernel_key"]}, {"workload", kernel["workload"]}, {"from", 0}});
      kernel["evaluations"] = page["evaluations"];
      kernel["variants"] = page["variants"];
      for (Json& variant : kernel["variants"]) variant["parent"] = "";
    }
    return report;
  }
  // The reply, which is looked at.
  Json Ask(const std::string& verb, const Json& params, const std::string& schema) {
    Json result = Result(verb, params);
    // What the client reads and prints.
    if (result.contains("document") && verb != "strategies_export") {
      const std::string path = result["document"];
      if (verb == "report") result = WithEvidence(path);
      if (verb == "export") {
        const Json file = records::ParseJson(base::ReadFile(path).value()).value();
        EXPECT_THAT(pages_.Undescribed("cupilot.export/1", file), IsEmpty());
        result.erase("document");
      }
    }
    EXPECT_EQ(result.value("schema", ""), schema) << verb;
    EXPECT_THAT(pages_.Undescribed(schema, result), IsEmpty()) << schema;
    looked_at_.insert(schema);
    return result;
  }

  test::SchemaPages pages_{base::ReadFile(CUPILOT_TEST_SOURCE_DIR "/client/SCHEMAS.md").value()};
  std::set<std::string> looked_at_;
  std::unique_ptr<Requests> requests_;
};

TEST_F(SchemaKeysTest, AreThoseOfTheDocuments) {
  settings_.models.models = "";
  Prepare("kernel k a tunable=T\nkernel l b workload=none\nkernel m c refuses=it_has_no_loop\n");
  judge_ = [](const evaluate::EvaluateRequest& request) {
    return test::MakeEvaluation(request, 0.7 + test::SpeedupOf(request.variant.id));
  };
  Start();
  WorkUntilEvaluating();
  requests_ = std::make_unique<Requests>(*service_, state(), [] {});
  const Json kernel = {{"kernel", "k"}};
  const Json folder = {{"folder", project_.build_folder()}};
  Ask("status", Json::object(), "cupilot.status/1");
  Drain();
  Ask("status", Json::object(), "cupilot.status/1");
  const Json list = Ask("list", Json::object(), "cupilot.list/1");
  const Json best = Ask("best", kernel, "cupilot.best/1");
  const std::string id = best["variant"]["id"];
  Ask("apply", folder, "cupilot.apply/1");
  Ask("pin", {{"kernel", "k"}, {"variant", id}}, "cupilot.decided/1");
  Ask("list", Json::object(), "cupilot.list/1");
  Ask("explain", kernel, "cupilot.explain/1");
  Ask("explain", {{"kernel", "l"}}, "cupilot.explain/1");
  Ask("explain", {{"kernel", "m"}}, "cupilot.explain/1");
  Ask("history", kernel, "cupilot.history/1");
  Ask("diff", {{"kernel", "k"}, {"variant", id}}, "cupilot.diff/1");
  Ask("report", folder, "cupilot.report/1");
  Ask("models", folder, "cupilot.models/1");
  Ask("strategies_list", Json::object(), "cupilot.strategies_list/1");
  Ask("workload_list", folder, "cupilot.workload_list/1");
  Ask("export", {{"all", true}}, "cupilot.exported/1");
  Ask("prune", {{"older_seconds", 0}, {"dry_run", true}}, "cupilot.pruned/1");
  Ask("forget", {{"project", project_.build_folder()}, {"dry_run", true}}, "cupilot.forgotten/1");
  const std::set<std::string> elsewhere = {
      // The client adds them.
      "cupilot.diff/1:difference",
      "cupilot.exported/1:file",
      // Of ideas of language models.
      "cupilot.explain/1:tried.steps.rationale",
      "cupilot.report/1:kernels.variants.steps.rationale",
      // Of a variant whose guard leaves cases to the original.
      "cupilot.report/1:kernels.evaluations.cases.admitted",
      // Of GPUs.
      "cupilot.status/1:devices.state",
      "cupilot.status/1:devices.why",
      "cupilot.status/1:devices.busy_share",
      "cupilot.status/1:devices.busy_seconds",
      "cupilot.status/1:devices.tuning_seconds",
      "cupilot.status/1:devices.waiting",
      "cupilot.status/1:devices.builds_waiting",
      "cupilot.status/1:devices.spent_seconds",
      "cupilot.status/1:devices.left_seconds",
  };
  std::vector<std::string> unseen = pages_.Unseen(looked_at_);
  std::erase_if(unseen, [&](const std::string& key) { return elsewhere.contains(key); });
  EXPECT_THAT(unseen, IsEmpty()) << "client/SCHEMAS.md says what no document has";
}

}  // namespace
}  // namespace cupilot::service
