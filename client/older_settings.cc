#include "client/older_settings.h"

#include "base/paths.h"
#include "records/settings.h"

namespace cupilot::client {

std::string OlderSettings(const records::Json& status) {
  const std::string read = records::TextAt(status, "settings");
  // Another version knows other settings, and is told of anyway.
  if (read.empty() || records::TextAt(status, "version") != CUPILOT_VERSION) return {};
  const auto folders = base::FindUserFolders();
  if (!folders) return {};
  const auto now = records::ReadSettingsFile(folders->config + "/config.json");
  if (!now)
    return "the daemon runs with older settings, and cannot read those of now: " +
           now.error().message;
  if (records::HashJson(*now) == read) return {};
  return "the daemon runs with older settings: `cupilot daemon stop` (it starts again by itself)";
}

}  // namespace cupilot::client
