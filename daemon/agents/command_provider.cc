#include "agents/command_provider.h"

#include <utility>

#include "agents/answer_soon.h"
#include "agents/wire_format.h"
#include "loop/child_process.h"

namespace cupilot::agents {

class CommandProvider::Call final : public ModelCall {
 public:
  Call(Alarms& alarms, const Settings& settings, TextHandler on_text, AnswerHandler done)
      : max_bytes_(settings.max_bytes), on_text_(std::move(on_text)), done_(std::move(done)) {
    total_ = alarms.After(settings.total,
                          [this] { Fail(Failure::kTimeout, "the program did not end in time"); });
  }
  ~Call() override {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }

  base::Result<> Start(loop::Loop& loop, const Settings& settings, const ModelRequest& request,
                       const std::string& bytes) {
    loop::ChildOptions options;
    options.arguments = settings.arguments;
    options.environment = {{"CUPILOT_MODEL", request.model}};
    options.folder = settings.folder;
    options.max_line = settings.max_bytes;
    options.last_line_may_lack_end = true;
    options.on_error_line = [this](std::string_view line) { complaint_ = ShortText(line); };
    TRY_ASSIGN(child_,
               loop::ChildProcess::Start(
                   loop, std::move(options), [this](std::string_view line) { OnLine(line); },
                   [this](const loop::ChildExit& exit) { OnExit(exit); }));
    child_->WriteLine(std::string_view(bytes).substr(0, bytes.size() - 1));
    child_->CloseInput();
    return {};
  }
  // Of a call that could not be started.
  AnswerHandler TakeHandler() { return std::move(done_); }

 private:
  void OnLine(std::string_view line) {
    if (text_.size() + line.size() + 1 > max_bytes_) return TooLarge();
    std::string piece(line);
    piece += '\n';
    text_ += piece;
    if (!on_text_) return;
    // The handler may destroy this object, and itself with it.
    bool gone = false;
    destroyed_ = &gone;
    auto on_text = std::move(on_text_);
    on_text(piece);
    if (gone) return;
    destroyed_ = nullptr;
    on_text_ = std::move(on_text);
  }

  void OnExit(const loop::ChildExit& exit) {
    if (exit.line_too_long) return TooLarge();
    if (exit.signal != 0 || exit.status != 0) {
      const std::string how = exit.signal != 0
                                  ? "was ended by signal " + std::to_string(exit.signal)
                                  : "ended with " + std::to_string(exit.status);
      return Fail(Failure::kBroken,
                  "the program " + how + (complaint_.empty() ? "" : ": " + complaint_));
    }
    if (text_.find_first_not_of(" \t\r\n") == std::string::npos) {
      return Fail(Failure::kMalformed, "the program wrote nothing");
    }
    ModelAnswer answer;
    answer.text = std::move(text_);
    Finish(std::move(answer));
  }

  void TooLarge() {
    Fail(Failure::kTooLarge,
         "the program wrote more than " + std::to_string(max_bytes_) + " bytes");
  }

  void Fail(Failure why, std::string message) {
    ModelError error;
    error.why = why;
    error.message = std::move(message);
    error.attempts = 1;
    error.partial = std::move(text_);
    Finish(tl::unexpected(std::move(error)));
  }

  // Runs in callbacks of what it destroys, which allow that.
  void Finish(ModelResult result) {
    auto child = std::move(child_);
    auto total = std::move(total_);
    auto done = std::move(done_);
    done(std::move(result));  // may destroy this object
  }

  std::size_t max_bytes_;
  TextHandler on_text_;
  AnswerHandler done_;
  std::string text_;
  std::string complaint_;
  std::unique_ptr<Alarm> total_;
  std::unique_ptr<loop::ChildProcess> child_;
  bool* destroyed_ = nullptr;
};

namespace {

// What the user allows is a program with its words, not a program.
std::string CommandName(const std::vector<std::string>& arguments) {
  std::string name = "command";
  for (const std::string& word : arguments) name += " " + word;
  return name;
}

}  // namespace

CommandProvider::CommandProvider(loop::Loop& loop, Alarms& alarms, Settings settings)
    : loop_(loop),
      alarms_(alarms),
      settings_(std::move(settings)),
      name_(CommandName(settings_.arguments)) {}

std::string CommandProvider::Bytes(const ModelRequest& request) const {
  std::string bytes = request.system;
  if (!bytes.empty()) bytes += "\n\n";
  bytes += request.prompt;
  return bytes + "\n";
}

std::unique_ptr<ModelCall> CommandProvider::Send(ModelRequest request, TextHandler on_text,
                                                 AnswerHandler done) {
  ModelError error;
  error.why = Failure::kUnreachable;
  if (settings_.arguments.empty()) {
    error.message = "no program is set";
    return AnswerSoon(alarms_, tl::unexpected(std::move(error)), nullptr, std::move(done));
  }
  auto call = std::make_unique<Call>(alarms_, settings_, std::move(on_text), std::move(done));
  auto started = call->Start(loop_, settings_, request, Bytes(request));
  if (started) return call;
  error.message = started.error().message;
  return AnswerSoon(alarms_, tl::unexpected(std::move(error)), nullptr, call->TakeHandler());
}

}  // namespace cupilot::agents
