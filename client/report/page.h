// A report as one HTML file that loads nothing: page, style, program and data in one. Pure.
#pragma once

#include <string>

#include "records/json.h"

namespace cupilot::client {

// By this a file is known to be a report, which another may replace.
inline constexpr const char* kReportMark = "<meta name=\"generator\" content=\"cupilot report\">";

// The page of a document (cupilot.report/1). Nothing of the document can run in it: it stands there
// as data, and the page's policy admits the program and the style by their hashes only. Equal
// documents give equal bytes.
std::string ReportPage(const records::Json& document);

// Text as the content of an element.
std::string EscapeHtml(std::string_view text);

// JSON as the content of a <script> element: it holds none of < > & and only ASCII.
std::string JsonForScript(const records::Json& json);

}  // namespace cupilot::client
