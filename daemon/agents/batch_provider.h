// A service that is asked in batches: the folder, what carries it, and the service, as one
// provider.
#pragma once

#include <memory>
#include <string>

#include "agents/batch_format.h"
#include "agents/batch_runner.h"
#include "agents/batch_service.h"
#include "agents/exchange_provider.h"
#include "agents/provider.h"
#include "base/result.h"

namespace cupilot::agents {

// Send says kPending until the service has come back, which takes minutes to a day. It looks at the
// service every few minutes from its creation on.
class BatchProvider final : public Provider {
 public:
  // `name` as HttpProvider has it: by it prices are found. kIo where the folder cannot be used.
  static base::Result<std::unique_ptr<BatchProvider>> Create(
      Alarms& alarms, std::unique_ptr<BatchService> service,
      std::unique_ptr<BatchFormat> format_of_requests,
      std::unique_ptr<BatchFormat> format_of_answers, std::string name,
      const BatchRunner::Settings& settings);

  const std::string& name() const override { return requests_.name(); }
  ProviderTraits traits() const override { return requests_.traits(); }
  std::string Bytes(const ModelRequest& request) const override { return requests_.Bytes(request); }
  std::unique_ptr<ModelCall> Send(ModelRequest request, TextHandler on_text,
                                  AnswerHandler done) override {
    return requests_.Send(std::move(request), std::move(on_text), std::move(done));
  }

 private:
  BatchProvider(Alarms& alarms, std::unique_ptr<BatchService> service,
                std::unique_ptr<BatchFormat> format_of_requests,
                std::unique_ptr<BatchFormat> format_of_answers, std::string name,
                const BatchRunner::Settings& settings)
      : service_(std::move(service)),
        format_(std::move(format_of_answers)),
        requests_(alarms, settings.folder, std::move(format_of_requests), std::move(name)),
        runner_(alarms, *service_, *format_, settings) {}

  std::unique_ptr<BatchService> service_;
  std::unique_ptr<BatchFormat> format_;
  ExchangeProvider requests_;
  BatchRunner runner_;
};

}  // namespace cupilot::agents
