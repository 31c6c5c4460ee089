// `cupilot report`
#include <gmock/gmock.h>

#include "base/file.h"
#include "client/report/page.h"
#include "tests/client/client_fixture.h"
#include "tests/support/made_up_report.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;

class ReportCommandTest : public ClientTest {
 protected:
  // As the daemon does: verdicts and variants apart, here seven at a time.
  void ServeReport(const Json& whole) {
    Json report = whole;
    for (Json& kernel : report["kernels"]) {
      kernel.erase("evaluations");
      kernel.erase("variants");
    }
    daemon_.On("report_evidence", [whole](const Json& params) -> base::Result<Json> {
      const auto from = params["from"].get<std::size_t>();
      Json page = {{"evaluations", Json::array()}, {"variants", Json::array()}, {"next", nullptr}};
      for (const Json& kernel : whole["kernels"]) {
        if (kernel["kernel_key"] != params["kernel_key"]) continue;
        const std::size_t count = kernel["evaluations"].size();
        for (std::size_t i = from; i < count && i < from + 7; ++i) {
          page["evaluations"].push_back(kernel["evaluations"][i]);
          page["variants"].push_back(kernel["variants"][i]);
        }
        if (from + 7 < count) page["next"] = from + 7;
      }
      return page;
    });
    daemon_.On("report", [this, report](const Json&) -> base::Result<Json> {
      return Json{{"schema", "cupilot.reported/1"},
                  {"document", xdg_.folder().Write("reply.json", records::CompactJson(report))}};
    });
    ASSERT_TRUE(daemon_.Start());
  }
  std::string FileNamed(const std::string& name) const { return xdg_.folder().path() + "/" + name; }
};

TEST_F(ReportCommandTest, WritesThePageOfTheProject) {
  const Json report = test::MadeUpReport(5);
  ServeReport(report);
  const auto run = Run({"report"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("the report is in cupilot-report.html"));
  EXPECT_EQ(*base::ReadFile(FileNamed("cupilot-report.html")), ReportPage(report));
  EXPECT_FALSE(base::FileExists(FileNamed("reply.json"))) << "it is the reader's";
  Json asked;
  for (const Json& request : daemon_.requests()) {
    if (request["verb"] == "report") asked = request;
  }
  EXPECT_EQ(asked["params"]["folder"], xdg_.folder().path());
}

TEST_F(ReportCommandTest, TheSameDataAndDateGiveTheSameBytes) {
  ServeReport(test::MadeUpReport(5));
  environment_["SOURCE_DATE_EPOCH"] = "86400";
  EXPECT_EQ(Run({"report", "-o", "a.html"}).exit_code, 0);
  EXPECT_EQ(Run({"report", "-o", "a.html"}).exit_code, 0) << "a report may be written again";
  EXPECT_EQ(Run({"report", "-o", "b.html"}).exit_code, 0);
  EXPECT_EQ(*base::ReadFile(FileNamed("a.html")), *base::ReadFile(FileNamed("b.html")));
  EXPECT_THAT(*base::ReadFile(FileNamed("a.html")), HasSubstr("1970-01-02T00:00:00Z"));
  for (const char* date : {"yesterday", "-1", "1e9", "999999999999999999"}) {
    environment_["SOURCE_DATE_EPOCH"] = date;
    const auto run = Run({"report", "-o", "a.html"});
    EXPECT_EQ(run.exit_code, 2) << date;
    EXPECT_THAT(run.errors, HasSubstr("write seconds since 1970"));
  }
}

TEST_F(ReportCommandTest, JsonIsTheDocumentAndWritesOnlyWhatIsNamed) {
  const Json report = test::MadeUpReport(5);
  ServeReport(report);
  EXPECT_EQ(RunJson({"report"}, 0), report);
  EXPECT_FALSE(base::FileExists(FileNamed("cupilot-report.html")));
  EXPECT_EQ(RunJson({"report", "-o", "named.html"}, 0), report);
  EXPECT_TRUE(base::FileExists(FileNamed("named.html")));
}

TEST_F(ReportCommandTest, AFileThatIsNoReportIsLeftAlone) {
  ServeReport(test::MadeUpReport(5));
  xdg_.folder().Write("mine.html", "<p>mine</p>");
  const auto run = Run({"report", "-o", "mine.html"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("mine.html exists and is no report of cuPilot; name another"));
  EXPECT_EQ(*base::ReadFile(FileNamed("mine.html")), "<p>mine</p>");
  EXPECT_EQ(Run({"report", "-o", "mine.html/a.html"}).exit_code, 3);
  EXPECT_EQ(Run({"report", "-o"}).exit_code, 2);
}

TEST_F(ReportCommandTest, OutsideOfAProjectIsNo) {
  Refuse("report", base::NotFound("no tuned project contains /x; configure and build it once"));
  const auto run = Run({"report"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("configure and build it once"));
  EXPECT_EQ(RunJson({"report"}, 1)["schema"], "cupilot.error/1");
}

}  // namespace
}  // namespace cupilot::client
