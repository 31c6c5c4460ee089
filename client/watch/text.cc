#include "client/watch/text.h"

#include <langinfo.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace cupilot::client {
namespace {

struct Glyph {
  std::string bytes;
  int columns = 1;
};

// libc knows the widths of characters, but only in a locale of UTF-8. This one is a part of libc
// and changes nothing for the rest of the program.
class Utf8Locale {
 public:
  Utf8Locale() : previous_(::uselocale(Shared())) {}
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() { ::uselocale(previous_); }
  static bool exists() { return Shared() != nullptr; }

 private:
  static locale_t Shared() {
    static const locale_t shared = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return shared;
  }
  locale_t previous_;
};

Glyph BlankOrUnknown(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (code < 0x20 || code == 0x7f) return {" ", 1};
  return code < 0x80 ? Glyph{std::string(1, byte), 1} : Glyph{"?", 1};
}

std::vector<Glyph> GlyphsOf(std::string_view text, Charset charset) {
  const Utf8Locale locale;
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < text.size();) {
    wchar_t wide = 0;
    mbstate_t state{};
    std::size_t length = 1;
    if (static_cast<unsigned char>(text[at]) >= 0x80 && Utf8Locale::exists()) {
      length = ::mbrtowc(&wide, text.data() + at, text.size() - at, &state);
    }
    if (length == 0 || length > text.size() - at) length = 1;  // no character, or half of one
    const int columns = length > 1 ? ::wcwidth(wide) : -1;
    if (length == 1) {
      glyphs.push_back(BlankOrUnknown(text[at]));
    } else if (columns < 0 || charset == Charset::kAscii) {
      glyphs.push_back({"?", 1});
    } else {
      glyphs.push_back({std::string(text.substr(at, length)), columns});
    }
    at += length;
  }
  return glyphs;
}

int ColumnsOf(const std::vector<Glyph>& glyphs) {
  int columns = 0;
  for (const Glyph& glyph : glyphs) columns += glyph.columns;
  return columns;
}

std::string TextOfGlyphs(const std::vector<Glyph>& glyphs) {
  std::string text;
  for (const Glyph& glyph : glyphs) text += glyph.bytes;
  return text;
}

Glyph Mark(Charset charset) {
  return charset == Charset::kUnicode ? Glyph{"\u2026", 1} : Glyph{"~", 1};
}

std::vector<Glyph> Cut(std::vector<Glyph> glyphs, int columns, Charset charset) {
  int width = ColumnsOf(glyphs);
  if (width <= columns) return glyphs;
  if (columns <= 0) return {};
  while (width > columns - 1 && !glyphs.empty()) {
    width -= glyphs.back().columns;
    glyphs.pop_back();
  }
  glyphs.push_back(Mark(charset));
  return glyphs;
}

}  // namespace

Charset CharsetOfEnvironment() {
  const locale_t user = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (user == nullptr) return Charset::kAscii;
  const bool utf8 = std::strcmp(::nl_langinfo_l(CODESET, user), "UTF-8") == 0;
  ::freelocale(user);
  return utf8 ? Charset::kUnicode : Charset::kAscii;
}

int Columns(std::string_view text, Charset charset) { return ColumnsOf(GlyphsOf(text, charset)); }

std::string Fit(std::string_view text, int columns, Charset charset) {
  return TextOfGlyphs(Cut(GlyphsOf(text, charset), columns, charset));
}

std::string FitEnd(std::string_view text, int columns, Charset charset) {
  std::vector<Glyph> glyphs = GlyphsOf(text, charset);
  std::reverse(glyphs.begin(), glyphs.end());
  glyphs = Cut(std::move(glyphs), columns, charset);
  std::reverse(glyphs.begin(), glyphs.end());
  return TextOfGlyphs(glyphs);
}

std::string Left(std::string_view text, int columns, Charset charset) {
  std::string fitted = Fit(text, columns, charset);
  fitted.append(static_cast<std::size_t>(std::max(0, columns - Columns(fitted, charset))), ' ');
  return fitted;
}

std::string Right(std::string_view text, int columns, Charset charset) {
  const std::string fitted = Fit(text, columns, charset);
  return std::string(static_cast<std::size_t>(std::max(0, columns - Columns(fitted, charset))),
                     ' ') +
         fitted;
}

std::vector<std::string> Wrap(std::string_view text, int columns, Charset charset) {
  std::vector<Glyph> glyphs = GlyphsOf(text, charset);
  std::size_t indent = 0;
  while (indent < glyphs.size() && glyphs[indent].bytes == " ") ++indent;
  indent += 2;
  if (static_cast<int>(indent) * 2 > columns) indent = 0;
  std::vector<std::string> lines;
  while (ColumnsOf(glyphs) > columns && columns > 0) {
    std::size_t end = 0, blank = 0;
    for (int width = 0; end < glyphs.size() && width + glyphs[end].columns <= columns; ++end) {
      if (glyphs[end].bytes == " " && end > indent) blank = end;
      width += glyphs[end].columns;
    }
    if (end < glyphs.size() && glyphs[end].bytes == " ") blank = end;
    std::size_t cut = blank > 0 ? blank : std::max<std::size_t>(end, 1);
    const auto from = glyphs.begin();
    lines.push_back(
        TextOfGlyphs(std::vector<Glyph>(from, from + static_cast<std::ptrdiff_t>(cut))));
    while (cut < glyphs.size() && glyphs[cut].bytes == " ") ++cut;
    glyphs.erase(from, from + static_cast<std::ptrdiff_t>(cut));
    if (glyphs.empty()) return lines;
    glyphs.insert(glyphs.begin(), indent, Glyph{" ", 1});
  }
  lines.push_back(TextOfGlyphs(glyphs));
  return lines;
}

std::string Sparkline(std::span<const double> values, int columns, Charset charset) {
  static constexpr const char* kBlocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588"};
  static constexpr const char* kSigns[] = {".", ":", "-", "=", "+", "*", "#", "@"};
  if (values.empty() || columns <= 0) return {};
  const double top = *std::max_element(values.begin(), values.end());
  const auto points = std::min(values.size(), static_cast<std::size_t>(columns));
  std::string text;
  for (std::size_t i = 1; i <= points; ++i) {
    // The last of its slice: a best so far only grows.
    const double value = values[i * values.size() / points - 1];
    const double share = top > 1 ? std::clamp((value - 1) / (top - 1), 0.0, 1.0) : 0;
    const auto level = static_cast<std::size_t>(std::lround(share * 7));
    text += (charset == Charset::kUnicode ? kBlocks : kSigns)[level];
  }
  return text;
}

}  // namespace cupilot::client
