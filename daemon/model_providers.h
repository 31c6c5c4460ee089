// The language models that the user named, made for the daemon: part of the composition root.
// Nothing is made, and libcurl not begun, where none is named.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/alarms.h"
#include "agents/provider_factory.h"
#include "base/clock.h"
#include "base/paths.h"
#include "loop/loop.h"
#include "service/models.h"

namespace cupilot {

class ModelProviders {
 public:
  // `text` as ParseProviders takes it; relative paths are from `folder`. Reads the keys: to be
  // called before there are other threads. Errors are those of the user's text, and keys that are
  // missing.
  static base::Result<std::unique_ptr<ModelProviders>> Read(const std::string& text,
                                                            const std::string& folder,
                                                            const base::UserFolders& folders);
  ~ModelProviders();

  // Both must outlive this. Once.
  base::Result<> Make(loop::Loop& loop, const base::Clock& clock);

  const std::vector<agents::ProviderChoice>& choices() const { return choices_; }
  // Null without any.
  const service::ModelSurroundings* surroundings() const {
    return choices_.empty() ? nullptr : &surroundings_;
  }

 private:
  ModelProviders() = default;

  std::vector<agents::ProviderChoice> choices_;
  agents::ProviderFolders folders_;
  std::vector<std::string> price_files_;
  agents::KeyRing keys_;
  std::unique_ptr<agents::LoopAlarms> alarms_;
  std::unique_ptr<loop::HttpClient> client_;
  base::UniqueFunction<double()> random_;
  std::vector<std::unique_ptr<agents::Provider>> providers_;
  service::ModelSurroundings surroundings_;
};

// Whether what is asked leaves for a service that others run, or that may cost: what needs the
// user's word for more than one run.
bool IsService(const agents::ProviderChoice& choice);

// Connections and pipes of many requests: the soft limit of open files becomes the hard one.
void RaiseFileLimit();

}  // namespace cupilot
