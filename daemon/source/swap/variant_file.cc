#include "source/swap/variant_file.h"

#include <cstdio>
#include <string_view>

#include "base/hash.h"
#include "source/swap/variant_text.h"

namespace cupilot::source {
namespace {

constexpr std::string_view kPrefix = "variant.";
constexpr std::string_view kInclude = "#include \"variant.";

// What others wrote, as a part of a line of comment. Nothing in it ends the line or joins it to the
// next one, and nothing turns the direction in which it is read, of which compilers warn.
std::string OneLine(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '\\';
    const bool trigraph = c == '/' && out.ends_with("??");
    out += plain && !trigraph ? c : '_';
  }
  return out;
}

std::string Times(double speedup) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", speedup);
  return text;
}

std::string OnDevices(const std::vector<std::string>& devices) {
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? " on " : ", ") + device;
  return text;
}

std::string Dimensions(const std::vector<std::string>& sizes) {
  std::string text;
  for (const std::string& size : sizes) text += (text.empty() ? "" : ", ") + size;
  return text.empty() ? "as the original" : "(" + text + ")";
}

// "//   blur_t4, grid (ceil_div(width, 4), height, 1), block (64, 8, 1)"
std::string LaunchLine(const records::Launch& launch) {
  std::string text = launch.entry.empty() ? launch.fill + " cleared" : launch.entry;
  if (!launch.entry.empty()) {
    text += ", grid " + Dimensions(launch.grid) + ", block " + Dimensions(launch.block);
  }
  if (!launch.shared_bytes.empty()) text += ", shared bytes " + launch.shared_bytes;
  if (launch.repeat) text += ", " + launch.repeat->first + " times";
  if (!launch.when.empty()) text += ", when " + launch.when;
  return "//   " + OneLine(text) + "\n";
}

// The source's path is already known to fit into an #include, so it stands as it is.
std::string Head(const SwapRequest& request, const SwappedKernel& kernel,
                 const std::vector<const SwappedVariant*>& places) {
  const records::Variant& variant = places[0]->variant;
  const std::string name =
      OneLine(records::NameWithArguments(kernel.kernel.name, variant.template_arguments));
  std::string text = "// A variant of the kernel " + name + ", launched in its place.\n//\n" +
                     "// Original: compiled from \"" + request.source + "\"\n" +
                     "// Variant:  " + OneLine(variant.id) + "\n";
  if (!places[0]->title.empty()) text += "// Strategy: " + OneLine(places[0]->title) + "\n";
  for (const SwappedVariant* place : places) {
    text += "// Measured: " + Times(place->speedup) + " times as fast as the original, for " +
            OneLine(place->target + OnDevices(place->devices)) +
            "\n// Runs if:  " + OneLine(place->guard.empty() ? "always" : place->guard) + "\n";
  }
  text += "// Launches, in this order:\n";
  for (const records::Launch& launch : records::LaunchesOf(variant)) text += LaunchLine(launch);
  return text +
         "//\n// `cupilot explain` shows what was tried and measured for the kernel; a program "
         "that is started with\n// CUPILOT_DISABLE=1 runs the originals. Written by cuPilot; "
         "replaced as a whole, never edited.\n\n";
}

}  // namespace

base::Result<SwappedText> WriteVariantFile(const SwapRequest& request, const SwappedKernel& kernel,
                                           const std::vector<const SwappedVariant*>& places) {
  std::vector<std::string> targets;
  targets.reserve(places.size());
  for (const SwappedVariant* place : places) targets.push_back(place->target);
  auto code = VariantText(kernel.kernel, places[0]->variant, targets, request.unit);
  if (!code) return base::Fail(code.error().In("variant " + places[0]->variant.id));
  SwappedText file;
  file.text = Head(request, kernel, places) + *code;
  file.file_name = std::string(kPrefix) + base::HashHex(file.text) + ".cu";
  return file;
}

std::string IncludeOf(const SwappedText& file) { return "#include \"" + file.file_name + "\"\n"; }

std::vector<std::string> VariantFilesOf(const std::string& swapped_text) {
  std::vector<std::string> names;
  const std::string_view text = swapped_text;
  for (std::size_t at = text.find(kInclude); at != std::string_view::npos;
       at = text.find(kInclude, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::size_t begin = at + kInclude.size() - kPrefix.size();
    const std::string_view name = text.substr(begin, text.find('"', begin) - begin);
    if (name.find_first_of("/\n") == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

bool IsVariantFile(const std::string& name, const std::string& bytes) {
  return name == std::string(kPrefix) + base::HashHex(bytes) + ".cu";
}

}  // namespace cupilot::source
