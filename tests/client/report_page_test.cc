// The page of a report, as text. What a browser makes of it: browser/browser_test.py.
#include "client/report/page.h"

#include <gmock/gmock.h>

#include <string>

#include "base/sha256.h"
#include "tests/support/made_up_report.h"

namespace cupilot::client {
namespace {

using records::Json;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

const std::string& Page() {
  static const std::string page = ReportPage(test::MadeUpReport(30));
  return page;
}

TEST(ReportPageTest, HoldsItsDataUnchanged) {
  const std::string data =
      Between(Page(), "<script type=\"application/json\" id=\"data\">", "</script>");
  const auto read = records::ParseJson(data);
  ASSERT_TRUE(read) << data.substr(0, 200);
  EXPECT_EQ(*read, test::MadeUpReport(30));
}

TEST(ReportPageTest, NothingOfTheDataEndsItsElement) {
  // The data's and the program's.
  EXPECT_EQ(Count(Page(), "<script"), 2u);
  EXPECT_EQ(Count(Page(), "</script"), 2u);
  EXPECT_THAT(Page(), Not(HasSubstr("<img")));
  EXPECT_THAT(JsonForScript({{"a", "</script>&<!--\xe2\x80\xa8\xff"}}),
              ::testing::Eq("{\"a\":\"\\u003c/script\\u003e\\u0026\\u003c!--\\u2028\\ufffd\"}"));
}

TEST(ReportPageTest, ANameInTheTitleIsText) {
  Json report = test::MadeUpReport(0);
  report["project"] = "/home/</title><script>alert(1)</script>\"{{data}}";
  const std::string page = ReportPage(report);
  EXPECT_EQ(Count(page, "<script"), 2u);
  EXPECT_EQ(Count(page, "</title>"), 1u);
  EXPECT_THAT(page, HasSubstr("script&gt;&quot;{{data}}</title>"));
}

// A file that is to be passed on must not ask anybody for anything.
TEST(ReportPageTest, ThePolicyAdmitsThisProgramAndStyleAlone) {
  const std::string policy =
      Between(Page(), "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\">");
  const std::string script = Between(Page(), "</script>\n<script>", "</script>");
  const std::string style = Between(Page(), "<style>", "</style>");
  EXPECT_THAT(script, HasSubstr("cupilot-ready"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("script-src 'sha256-" + base::Sha256Base64(script) + "'"));
  EXPECT_THAT(policy, HasSubstr("style-src 'sha256-" + base::Sha256Base64(style) + "'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(style, Not(HasSubstr("url(")));
  EXPECT_THAT(style, Not(HasSubstr("@import")));
}

TEST(ReportPageTest, CarriesTheLicencesOfWhatIsInIt) {
  const std::string licences = Between(Page(), "aria-label=\"Licence texts\">", "</pre>");
  for (const char* part : {"Bostock", "node-d3-scale", "node-diff", "Redistribution"}) {
    EXPECT_THAT(licences, HasSubstr(part));
  }
  EXPECT_THAT(Page(), HasSubstr(kReportMark));
}

TEST(ReportPageTest, EqualDocumentsGiveEqualBytes) {
  EXPECT_EQ(ReportPage(test::MadeUpReport(30)), Page());
  EXPECT_NE(ReportPage(test::MadeUpReport(31)), Page());
}

TEST(Sha256Test, IsThatOfTheStandard) {
  // FIPS 180-4, "abc".
  EXPECT_EQ(base::Sha256Base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(base::Sha256Base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

}  // namespace
}  // namespace cupilot::client
