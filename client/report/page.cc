#include "client/report/page.h"

#include <map>
#include <string_view>

#include "base/sha256.h"
#include "client/report/embedded_files.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string_view FileNamed(std::string_view name) {
  for (const ReportFile* file = kReportFiles; !file->name.empty(); ++file) {
    if (file->name == name) return file->text;
  }
  return {};
}

// Libraries first, each as it came; then our files as one function, so that none of their names is
// global.
std::string Script() {
  std::string script;
  for (const ReportFile* file = kReportFiles; !file->name.empty(); ++file) {
    if (file->kind == ReportFile::Kind::kLibrary) script += std::string(file->text) + "\n";
  }
  script += "(function () {\n'use strict';\n";
  for (const ReportFile* file = kReportFiles; !file->name.empty(); ++file) {
    if (file->kind == ReportFile::Kind::kProgram) script += std::string(file->text) + "\n";
  }
  return script + "})();\n";
}

std::string Licences() {
  std::string text;
  for (const ReportFile* file = kReportFiles; !file->name.empty(); ++file) {
    if (file->kind != ReportFile::Kind::kLicence) continue;
    text += std::string(file->name) + "\n\n" + std::string(file->text) + "\n";
  }
  return text;
}

std::string Policy(const std::string& script, const std::string& style) {
  return "default-src 'none'; script-src 'sha256-" + base::Sha256Base64(script) +
         "'; style-src 'sha256-" + base::Sha256Base64(style) +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";
}

std::string TitleOf(const Json& document) {
  const std::string project = records::TextAt(document, "project");
  return "cuPilot report: " + project.substr(project.rfind('/') + 1);
}

// Each {{name}} once, in one pass: what was filled in is never looked at again.
std::string Fill(std::string_view page, const std::map<std::string, std::string>& parts) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t open; (open = page.find("{{", at)) != std::string_view::npos;) {
    const std::size_t close = page.find("}}", open);
    if (close == std::string_view::npos) break;
    text += page.substr(at, open - at);
    const auto part = parts.find(std::string(page.substr(open + 2, close - open - 2)));
    if (part != parts.end()) text += part->second;
    at = close + 2;
  }
  text += page.substr(at);
  return text;
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string JsonForScript(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    // These stand in strings only, where \u means the same.
    switch (c) {
      case '<':
        escaped += "\\u003c";
        break;
      case '>':
        escaped += "\\u003e";
        break;
      case '&':
        escaped += "\\u0026";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ReportPage(const Json& document) {
  const std::string script = Script();
  const std::string style(FileNamed("style.css"));
  return Fill(FileNamed("page.html"), {{"policy", EscapeHtml(Policy(script, style))},
                                       {"title", EscapeHtml(TitleOf(document))},
                                       {"style", style},
                                       {"licences", EscapeHtml(Licences())},
                                       {"data", JsonForScript(document)},
                                       {"script", script}});
}

}  // namespace cupilot::client
