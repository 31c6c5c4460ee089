#include "loop/file_watcher.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "loop/timer.h"
#include "loop/uv_handle.h"

namespace cupilot::loop {

namespace {
constexpr int kLongest = 10;  // quiet times from the first event to its report
}  // namespace

struct FileWatcher::State {
  struct Folder {
    Folder(State* the_owner, std::string the_path)
        : owner(the_owner), path(std::move(the_path)), handle(this) {}
    State* owner;
    std::string path;
    UvHandle<uv_fs_event_t> handle;
  };

  State(Loop& the_loop, std::chrono::milliseconds the_quiet)
      : loop(the_loop), quiet(the_quiet), timer(the_loop) {}

  // Each event puts the report off, but not beyond a bound: something may write all the time.
  void OnEvent(const std::string& folder) {
    const auto now = loop.Now();
    if (pending.empty()) first = now;
    pending.insert(folder);
    const auto waited = now - first;
    const auto left = std::max(kLongest * quiet - waited, std::chrono::milliseconds(0));
    timer.Start(std::min(quiet, left), [this] { Flush(); });
  }
  void Flush() {
    std::set<std::string> ready;
    ready.swap(pending);
    for (const std::string& folder : ready) changed(folder);
  }

  Loop& loop;
  std::chrono::milliseconds quiet;
  Timer timer;
  base::UniqueFunction<void(const std::string&)> changed;
  std::map<std::string, std::unique_ptr<Folder>> folders;
  std::set<std::string> pending;
  std::chrono::milliseconds first{0};  // when the first of what is pending came
};

FileWatcher::FileWatcher(Loop& loop, std::chrono::milliseconds quiet,
                         base::UniqueFunction<void(const std::string&)> changed)
    : state_(std::make_unique<State>(loop, quiet)) {
  state_->changed = std::move(changed);
}
FileWatcher::~FileWatcher() = default;

base::Result<> FileWatcher::Watch(const std::string& folder) {
  if (state_->folders.count(folder) != 0) return {};
  auto entry = std::make_unique<State::Folder>(state_.get(), folder);
  uv_fs_event_init(state_->loop.uv(), entry->handle.get());
  const auto on_event = [](uv_fs_event_t* event, const char*, int, int) {
    if (event->data == nullptr) return;
    auto* watched = static_cast<State::Folder*>(event->data);
    watched->owner->OnEvent(watched->path);
  };
  const int result = uv_fs_event_start(entry->handle.get(), on_event, folder.c_str(), 0);
  if (result == UV_ENOENT || result == UV_ENOTDIR) {
    return base::Fail(base::NotFound("no folder " + folder));
  }
  if (result != 0) {
    return base::Fail(base::Unavailable(
        "cannot watch " + folder + ": " + uv_strerror(result) +
        " (more watches: sysctl fs.inotify.max_user_watches and fs.inotify.max_user_instances)"));
  }
  state_->folders[folder] = std::move(entry);
  return {};
}

void FileWatcher::Unwatch(const std::string& folder) { state_->folders.erase(folder); }

base::Result<> FileWatcher::WatchTree(const std::string& folder) {
  TRY(Watch(folder));
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(
           folder, std::filesystem::directory_options::skip_permission_denied, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_directory(error)) TRY(Watch(it->path().string()));
  }
  return {};
}

}  // namespace cupilot::loop
