#include "agents/answer_soon.h"

#include <utility>

namespace cupilot::agents {
namespace {

class KnownAnswer final : public ModelCall {
 public:
  KnownAnswer(Alarms& alarms, ModelResult result, TextHandler on_text, AnswerHandler done)
      : result_(std::move(result)), on_text_(std::move(on_text)), done_(std::move(done)) {
    alarm_ = alarms.After(std::chrono::milliseconds(0), [this] { Give(); });
  }
  ~KnownAnswer() override {
    if (destroyed_ != nullptr) *destroyed_ = true;
  }

 private:
  void Give() {
    bool gone = false;
    destroyed_ = &gone;
    auto on_text = std::move(on_text_);
    if (on_text && result_ && !result_->text.empty()) {
      const std::string text = result_->text;
      on_text(text);
    }
    if (gone) return;
    destroyed_ = nullptr;
    auto done = std::move(done_);
    done(std::move(result_));
  }

  ModelResult result_;
  TextHandler on_text_;
  AnswerHandler done_;
  std::unique_ptr<Alarm> alarm_;
  bool* destroyed_ = nullptr;
};

}  // namespace

std::unique_ptr<ModelCall> AnswerSoon(Alarms& alarms, ModelResult result, TextHandler on_text,
                                      AnswerHandler done) {
  return std::make_unique<KnownAnswer>(alarms, std::move(result), std::move(on_text),
                                       std::move(done));
}

}  // namespace cupilot::agents
