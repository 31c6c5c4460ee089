// A capture that only counted launches: its kernel's tag says what it is run on, and nobody asked
// for it by name. Values.
#pragma once

#include "workloads/captured.h"

namespace cupilot::workloads {

// Where `earlier` has recorded cases and `later` none, `later` becomes `earlier`, with the calls
// and times of those geometries that both saw: their cases weigh as the later run says. True: it
// did. Times of another kind of device say nothing of these.
bool KeepRecorded(const Captured& earlier, Captured& later);

}  // namespace cupilot::workloads
