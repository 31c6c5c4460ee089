#include "search/evolution/settings.h"

namespace cupilot::search::evolution {

records::Json ToJson(const Settings& settings) {
  return {{"requests", settings.requests},
          {"evaluations", settings.evaluations},
          {"lines", settings.lines},
          {"wanted", settings.wanted},
          {"ideas", settings.ideas},
          {"population", settings.population},
          {"elites", settings.elites},
          {"tournament", settings.tournament},
          {"niche_cap", settings.niche_cap},
          {"epoch_rounds", settings.epoch_rounds},
          {"epoch_parents", settings.epoch_parents},
          {"crossover_share", settings.crossover_share},
          {"failures_until_dropped", settings.failures_until_dropped},
          {"hardest", settings.hardest},
          {"failed_named", settings.failed_named},
          {"revisions", settings.revisions},
          {"slow_revisions", settings.slow_revisions},
          {"votes", settings.votes},
          {"tuning_evaluations", settings.tuning_evaluations},
          {"near_floor", settings.near_floor},
          {"gain", settings.gain},
          {"stagnation_rounds", settings.stagnation_rounds},
          {"barren_answers", settings.barren_answers},
          {"unanswered", settings.unanswered},
          {"strategies", settings.strategies},
          {"roofline", settings.roofline},
          {"pool", settings.pool},
          {"tree", settings.tree},
          {"niches", settings.niches},
          {"crossover", settings.crossover}};
}

}  // namespace cupilot::search::evolution
