// What the stories of a faulty disk share: steps that are said on standard output, a line each,
// before and after they are done, and go on after a fault.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace cupilot::test {

// A step's result: what it says of itself when it is done (no line breaks).
using StoryStep = std::function<base::Result<std::string>()>;

// "begin NAME", then "done NAME WORDS"; or "failed NAME: REASON", whereupon the disk is healed and
// the step taken once more, which has to do it: else the program ends with 3.
void TakeStep(const std::string& name, const StoryStep& step);
// One line of standard output, at once.
void Say(const std::string& line);

// `root`: what is watched.
void LiveWithStore(const std::string& root);    // "store": of a new store, with a day's writes
void LiveWithUpgrade(const std::string& root);  // "upgrade": of a store of format 1
void PrepareUpgrade(const std::string& root);
void LiveWithPublisher(const std::string& root);  // "publisher"
void PreparePublisher(const std::string& root);

}  // namespace cupilot::test
