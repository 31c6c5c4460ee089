// report_page VARIANTS FILE: writes the page of a made-up report, for tests in a browser.
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "client/report/page.h"
#include "tests/support/made_up_report.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: report_page VARIANTS FILE\n", stderr);
    return 2;
  }
  const auto variants = static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10));
  const auto written = cupilot::base::WriteFileAtomically(
      argv[2], cupilot::client::ReportPage(cupilot::test::MadeUpReport(variants)));
  if (written) return 0;
  std::fprintf(stderr, "report_page: %s\n", written.error().message.c_str());
  return 3;
}
