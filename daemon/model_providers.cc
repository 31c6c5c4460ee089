#include "model_providers.h"

#include <sys/resource.h>

#include <random>
#include <utility>

#include "base/install_layout.h"
#include "log/log.h"

namespace cupilot {

bool IsService(const agents::ProviderChoice& choice) {
  using Kind = agents::ProviderKind;
  return choice.kind == Kind::kOpenAi || choice.kind == Kind::kAnthropic ||
         choice.kind == Kind::kOllama;
}

void RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

ModelProviders::~ModelProviders() = default;

base::Result<std::unique_ptr<ModelProviders>> ModelProviders::Read(
    const std::string& text, const std::string& folder, const base::UserFolders& folders) {
  std::unique_ptr<ModelProviders> made(new ModelProviders());
  TRY_ASSIGN(made->choices_, agents::ParseProviders(text, folder));
  made->folders_ = {folders.config + "/keys", folders.state + "/batches"};
  made->price_files_ = {base::ShareFolder() + "/model_prices.json",
                        folders.config + "/model_prices.json"};
  for (const agents::ProviderChoice& choice : made->choices_) {
    // What is missing is said when the provider is made.
    if (IsService(choice)) (void)made->keys_.Take(KeySourceOf(choice, made->folders_.keys));
  }
  return made;
}

base::Result<> ModelProviders::Make(loop::Loop& loop, const base::Clock& clock) {
  if (choices_.empty()) return {};
  alarms_ = std::make_unique<agents::LoopAlarms>(loop);
  surroundings_.alarms = alarms_.get();
  random_ = [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  client_ = std::make_unique<loop::HttpClient>(loop);
  TRY_ASSIGN(surroundings_.prices, agents::PriceTable::Load(price_files_));
  for (const agents::ProviderChoice& choice : choices_) {
    agents::HttpSurroundings http{*client_, *alarms_, clock, random_};
    TRY_ASSIGN(auto provider, agents::MakeProvider(choice, folders_, keys_, loop, http));
    surroundings_.providers.push_back({provider.get(), choice.model});
    providers_.push_back(std::move(provider));
  }
  return {};
}

}  // namespace cupilot
