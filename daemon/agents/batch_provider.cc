#include "agents/batch_provider.h"

namespace cupilot::agents {

base::Result<std::unique_ptr<BatchProvider>> BatchProvider::Create(
    Alarms& alarms, std::unique_ptr<BatchService> service,
    std::unique_ptr<BatchFormat> format_of_requests, std::unique_ptr<BatchFormat> format_of_answers,
    std::string name, const BatchRunner::Settings& settings) {
  std::unique_ptr<BatchProvider> made(
      new BatchProvider(alarms, std::move(service), std::move(format_of_requests),
                        std::move(format_of_answers), std::move(name), settings));
  TRY(made->runner_.Start());
  return made;
}

}  // namespace cupilot::agents
