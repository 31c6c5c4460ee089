#include "worker/unread_texts.h"

#include <string>
#include <string_view>

#include "records/private_data.h"

namespace cupilot::worker {
namespace {

constexpr std::byte kOtherLetter{0x15};  // of no letter zero, which would end a text

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the name stands as a word from `at` on.
std::size_t FindName(std::string_view text, std::string_view name, std::size_t at = 0) {
  for (at = text.find(name, at); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !IsNamePart(text[at - 1]);
    if (begins && (end == text.size() || !IsNamePart(text[end]))) return at;
  }
  return at;
}

// "char title[16]", and nothing else of that name.
bool IsOnlyDeclared(std::string_view text, std::string_view name) {
  const std::size_t at = FindName(text, name);
  if (at == std::string_view::npos) return false;
  if (FindName(text, name, at + 1) != std::string_view::npos) return false;
  constexpr std::string_view kType = "char ";
  if (!text.substr(0, at).ends_with(kType)) return false;
  const std::size_t next = text.find_first_not_of(' ', at + name.size());
  return next != std::string_view::npos && text[next] == '[';
}

// Whether the source may look at an object's bytes, and so at members that it does not name.
bool MayReadBytes(std::string_view source) {
  for (const char* word : {"reinterpret_cast", "bit_cast", "addressof", "memcpy", "asm"}) {
    if (source.find(word) != std::string_view::npos) return true;
  }
  for (std::size_t at = source.find('&'); at != std::string_view::npos;
       at = source.find('&', at + 1)) {
    const std::size_t before = source.find_last_not_of(" \n", at == 0 ? 0 : at - 1);
    const bool begins =
        at == 0 || std::string_view("(,=){[;?:").find(source[before]) != std::string_view::npos;
    if (begins || source.substr(0, before + 1).ends_with("return")) return true;
  }
  return false;
}

}  // namespace

bool IsUnread(const records::Parameter::Member& member, const records::Kernel& kernel,
              const records::Variant& variant) {
  if (!records::IsLetter(member)) return false;
  const std::string array = records::ArrayOf(member);
  const std::string name = array.substr(array.rfind('.') + 1);
  return IsOnlyDeclared(kernel.closure_source, name) && !MayReadBytes(variant.source) &&
         FindName(kernel.closure_macros, name) == std::string_view::npos &&
         FindName(variant.source, name) == std::string_view::npos;
}

std::vector<std::byte> WithOtherTexts(std::vector<std::byte> bytes,
                                      const records::Parameter& parameter,
                                      const records::Kernel& kernel) {
  for (const records::Parameter::Member& member : parameter.members) {
    const auto at = static_cast<std::size_t>(member.offset);
    if (member.offset < 0 || at >= bytes.size() || !IsUnread(member, kernel, {})) continue;
    bytes[at] = bytes[at] == kOtherLetter ? std::byte{0x51} : bytes[at] ^ kOtherLetter;
  }
  return bytes;
}

}  // namespace cupilot::worker
