#include "service/process_capture_runner.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "log/log.h"
#include "records/json.h"
#include "service/build_tools.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using records::Json;

// A descendant of the program's may hold its streams open.
constexpr std::chrono::milliseconds kAfterKill{2000};
constexpr std::size_t kMostDocument = 4u << 20;
// As CTest says it, in every version and language.
constexpr std::string_view kNoTest = "No tests were found!!!";

// A client that was ended leaves what it recorded.
void RemoveRecordings(const std::string& cache_folder, int pid) {
  std::error_code error;
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(cache_folder + "/capture", error)) {
    const std::string name = entry.path().filename();
    if (name.rfind(std::to_string(pid) + ".", 0) == 0) left.push_back(entry.path());
  }
  for (const std::string& folder : left) (void)base::RemoveTree(folder);
}

std::string Shown(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

void BoundedText::AddLine(std::string_view line) {
  std::string text = std::string(line).append("\n");
  if (tail_.empty() && left_out_ == 0 && head_.size() + text.size() <= half_) {
    head_ += text;
    return;
  }
  tail_ += text;
  if (tail_.size() <= 2 * half_) return;  // seldom, since it copies
  left_out_ += tail_.size() - half_;
  tail_.erase(0, tail_.size() - half_);
}

std::string BoundedText::Text() const {
  std::string tail = tail_;
  std::size_t left_out = left_out_;
  if (tail.size() > half_) {
    left_out += tail.size() - half_;
    tail.erase(0, tail.size() - half_);
  }
  if (left_out == 0) return head_ + tail;
  return head_ + "[... " + std::to_string(left_out) + " bytes are left out ...]\n" + tail;
}

std::string FailureOf(const std::string& document, const loop::ChildExit& exit) {
  if (exit.signal != 0) return "ended by signal " + std::to_string(exit.signal);
  const auto json = records::ParseJson(document);
  if (!json || !json->is_object())
    return "`cupilot capture` ended with " + std::to_string(exit.status);
  const auto program = json->find("program");
  if (program != json->end() && program->is_object()) {
    if (const auto code = program->find("exit_code");
        code != program->end() && code->is_number_integer() && *code != 0) {
      return "exit " + std::to_string(code->get<std::int64_t>());
    }
    if (const std::string ending = records::TextAt(*program, "ending"); !ending.empty()) {
      return ending;
    }
  }
  return records::TextAt(*json, "message");
}

struct ProcessCaptureRunner::Under {
  explicit Under(std::size_t most) : log(most) {}
  CaptureRun run;
  base::UniqueFunction<void(std::string)> done;
  BoundedText log;
  std::string document;
  bool no_test = false;
  std::string why_killed;
  std::unique_ptr<loop::ChildProcess> child;
};

ProcessCaptureRunner::ProcessCaptureRunner(loop::Loop& loop, Settings settings)
    : loop_(loop), settings_(std::move(settings)), limit_(loop) {}

ProcessCaptureRunner::~ProcessCaptureRunner() {
  *alive_ = false;
  if (under_ == nullptr || under_->child == nullptr) return;
  const int pid = under_->child->pid();
  under_.reset();
  RemoveRecordings(settings_.cache_folder, pid);
}

void ProcessCaptureRunner::Run(CaptureRun run, base::UniqueFunction<void(std::string)> done) {
  under_ = std::make_unique<Under>(settings_.most_log);
  under_->run = std::move(run);
  under_->done = std::move(done);
  const CaptureCommand& command = under_->run.command;
  loop::ChildOptions options;
  options.arguments = {settings_.program,     "--json",       "capture",
                       "--working-directory", command.folder, "--"};
  options.arguments.insert(options.arguments.end(), command.words.begin(), command.words.end());
  options.folder = under_->run.id.build_folder;  // by it the client finds the project
  options.nice = settings_.nice;
  options.on_error_line = [this](std::string_view line) {
    under_->no_test |= line.find(kNoTest) != std::string_view::npos;
    under_->log.AddLine(line);
  };
  under_->log.AddLine("in " + command.folder + ": " + Shown(command.words));
  auto child = loop::ChildProcess::Start(
      loop_, std::move(options),
      [this](std::string_view line) {
        if (under_->document.size() < kMostDocument) under_->document.append(line).append("\n");
      },
      [this](loop::ChildExit exit) { OnExit(exit); });
  if (!child) {
    // Not inside of this call.
    loop_.Post([this, alive = alive_, reason = child.error().message] {
      if (*alive) End(reason);
    });
    return;
  }
  under_->child = std::move(*child);
  under_->child->CloseInput();
  limit_.Start(settings_.limit, [this] { Kill("it did not end in time"); });
}

void ProcessCaptureRunner::Stop() {
  if (under_ != nullptr && under_->child != nullptr) Kill("it was interrupted");
}

void ProcessCaptureRunner::Kill(const char* why) {
  under_->why_killed = why;
  under_->child->Kill();
  limit_.Start(kAfterKill, [this] { OnExit({}); });
}

bool ProcessCaptureRunner::IsBuilding(const std::string& build_folder) {
  return BuildToolWorksIn(build_folder);
}

void ProcessCaptureRunner::OnExit(loop::ChildExit exit) {
  limit_.Cancel();
  RemoveRecordings(settings_.cache_folder, under_->child->pid());
  std::string failure = FailureOf(under_->document, exit);
  if (!under_->why_killed.empty()) {
    failure = under_->why_killed;
  } else if (under_->no_test && !failure.empty()) {
    failure = "neither CTest nor cupilot_capture_test() has a test of this name";
  }
  End(failure);
}

void ProcessCaptureRunner::End(const std::string& failure) {
  // The child is the caller: it goes with this frame.
  const std::unique_ptr<Under> ended = std::move(under_);
  ended->log.AddLine(failure.empty() ? "captured" : "not captured: " + failure);
  if (auto written = base::WriteFileAtomically(ended->run.log_file, ended->log.Text()); !written) {
    log::Warning("the log of a capture cannot be written", {{"reason", written.error()}});
  }
  ended->done(failure);
}

}  // namespace cupilot::service
