#include "source/tag_parser.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

std::string Number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string Dimensions(const std::vector<std::string>& three) {
  std::string text;
  for (const std::string& one : three) text += (text.empty() ? "(" : ",") + one;
  return text + ")";
}

std::string FillText(const records::Fill& fill) {
  if (fill.kind == "normal") {
    return "normal(" + Number(fill.mean) + "," + Number(fill.stddev) + ")";
  }
  if (fill.kind == "uniform" || fill.kind == "integers" || fill.kind == "indices") {
    return fill.kind + "(" + fill.low + "," + fill.high + ")";
  }
  if (fill.kind == "sorted" && !fill.low.empty()) {
    return "sorted(" + fill.low + "," + fill.high + ")";
  }
  if (fill.kind == "constant") return "constant(" + fill.value + ")";
  if (fill.kind == "offsets") return "offsets(" + fill.total + ")";
  if (fill.kind == "file") return "file(" + fill.path + ")";
  return fill.kind;
}

std::string PointersText(const source::TagValue& value) {
  std::string text = "pointers(" + value.count + "," + value.fill->bytes;
  for (const records::Fill& inner : value.fill->inner) text += "," + FillText(inner);
  return text + ")";
}

std::string ValueText(const source::TagValue& value) {
  std::string text = std::string(value.global ? "global:" : "") + value.name + "=";
  if (!value.array) return text + value.scalar;
  if (value.access) {
    text += *value.access == records::Access::kIn    ? "in "
            : *value.access == records::Access::kOut ? "out "
                                                     : "inout ";
  }
  if (value.unordered) text += "unordered ";
  if (value.fill && value.fill->kind == "pointers") return text + PointersText(value);
  if (value.fill) text += FillText(*value.fill);
  return value.count.empty() ? text : text + "[" + value.count + "]";
}

// A tag as one may write it.
std::string TagText(const source::Tag& tag) {
  std::string text;
  if (tag.tune) text += "cupilot: tune\n";
  for (const source::TagWorkload& workload : tag.workloads) {
    text += "cupilot: workload " + workload.name + " weight=" + Number(workload.weight);
    if (!workload.grid.empty()) text += " grid=" + Dimensions(workload.grid);
    if (!workload.block.empty()) text += " block=" + Dimensions(workload.block);
    text += " shared=" + workload.shared_bytes;
    for (const source::TagValue& value : workload.values) text += " " + ValueText(value);
    text += "\n";
  }
  for (const source::TagTunable& tunable : tag.tunables) {
    text += "cupilot: tunable " + tunable.name + "=";
    for (std::size_t i = 0; i < tunable.values.size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(tunable.values[i]);
    }
    text += "\n";
  }
  for (const source::TagRequire& require : tag.require) {
    text += "cupilot: require " + require.expression + "\n";
  }
  if (tag.launch_line > 0) {
    text += "cupilot: launch";
    if (!tag.launch_block.empty()) text += " block=" + Dimensions(tag.launch_block);
    if (!tag.launch_grid.empty()) text += " grid=" + Dimensions(tag.launch_grid);
    if (!tag.launch_shared_bytes.empty()) text += " shared=" + tag.launch_shared_bytes;
    text += "\n";
  }
  if (tag.tolerance && tag.tolerance->bitwise) text += "cupilot: bitwise\n";
  if (tag.tolerance && (tag.tolerance->relative || tag.tolerance->absolute)) {
    text += "cupilot: tolerance";
    if (tag.tolerance->relative) text += " relative=" + Number(*tag.tolerance->relative);
    if (tag.tolerance->absolute) text += " absolute=" + Number(*tag.tolerance->absolute);
    text += "\n";
  }
  return text;
}

}  // namespace

// A comment's text. What it says, written anew, says the same.
std::string Tags(std::string_view bytes) {
  const source::TagComment comment{"/p/main.cu", 7, std::string(bytes)};
  source::Tag tag;
  if (!source::ParseTagComment(comment, tag)) return {};
  const std::string printed = TagText(tag);
  if (printed.empty()) return {};
  source::Tag again;
  const auto parsed = source::ParseTagComment({"/p/main.cu", 1, printed}, again);
  if (!parsed) return "not read again: " + parsed.error().message + "\n" + printed;
  if (TagText(again) != printed) return "read otherwise:\n" + printed + TagText(again);
  return {};
}

}  // namespace cupilot::fuzz
