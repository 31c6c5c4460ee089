#include "service/replies.h"

#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::service {

using records::Json;

base::Result<Json> Replies::InFile(const std::string& text) const {
  const std::string path = folder() + "/" + base::HashHex(text) + ".json";
  TRY(base::WriteFileAtomically(path, text));
  return Json{{"schema", "cupilot.reply_file/1"}, {"document", path}};
}

void Replies::DropOld() const {
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const auto written = entry.last_write_time(error);
    if (!error && now - written > kKept) old.push_back(entry.path());
  }
  for (const auto& path : old) std::filesystem::remove(path, error);
}

}  // namespace cupilot::service
