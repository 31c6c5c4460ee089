#include "source/swap/lz4_block.h"

#include <cstdint>

namespace cupilot::source {
namespace {

constexpr std::size_t kLongest = 15;  // that four bits say; 15 means that more follows
constexpr std::size_t kShortestMatch = 4;

class Reader {
 public:
  explicit Reader(std::string_view block) : rest_(block) {}

  bool AtEnd() const { return rest_.empty(); }

  bool Byte(std::size_t& out) {
    if (rest_.empty()) return false;
    out = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return true;
  }

  // What four bits began: bytes are added up to the first that is not 255.
  bool Length(std::size_t& length) {
    if (length != kLongest) return true;
    std::size_t more = 255;
    while (more == 255) {
      if (!Byte(more)) return false;
      length += more;
    }
    return true;
  }

  bool Literals(std::size_t count, std::size_t room, std::string& out) {
    if (count > rest_.size() || count > room) return false;
    out.append(rest_.substr(0, count));
    rest_.remove_prefix(count);
    return true;
  }

 private:
  std::string_view rest_;
};

// Sequences of literals and of a match behind them; the last has no match.
bool Unpack(Reader& reader, std::size_t bytes, std::string& out) {
  while (true) {
    std::size_t token = 0;
    if (!reader.Byte(token)) return false;
    std::size_t literals = token >> 4;
    if (!reader.Length(literals) || !reader.Literals(literals, bytes - out.size(), out)) {
      return false;
    }
    if (reader.AtEnd()) return out.size() == bytes;
    std::size_t low = 0, high = 0, match = token & kLongest;
    if (!reader.Byte(low) || !reader.Byte(high) || !reader.Length(match)) return false;
    const std::size_t distance = high << 8 | low;
    match += kShortestMatch;
    if (distance == 0 || distance > out.size() || match > bytes - out.size()) return false;
    // Byte by byte: a match may reach into what it writes.
    for (std::size_t i = 0; i < match; ++i) out.push_back(out[out.size() - distance]);
  }
}

}  // namespace

base::Result<std::string> UnpackLz4Block(std::string_view block, std::size_t bytes) {
  std::string out;
  Reader reader(block);
  if (!Unpack(reader, bytes, out)) {
    return base::Fail(base::InvalidArgument("this is no LZ4 block of that size"));
  }
  return out;
}

}  // namespace cupilot::source
