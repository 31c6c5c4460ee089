// The commands; each prints its result and returns its exit code.
#pragma once

#include <string>
#include <vector>

#include "client/arguments.h"
#include "client/output.h"

namespace cupilot::client {

int RunStatus(const Arguments& arguments, Output& output);
int RunList(const Arguments& arguments, Output& output);
int RunWatch(const Arguments& arguments, Output& output);
int RunExplain(const Arguments& arguments, Output& output);
int RunBest(const Arguments& arguments, Output& output);
int RunHistory(const Arguments& arguments, Output& output);
int RunReport(const Arguments& arguments, Output& output);
int RunApply(const Arguments& arguments, Output& output);
int RunLock(const Arguments& arguments, Output& output);
int RunLockVerify(const Arguments& arguments, Output& output);
int RunTune(const Arguments& arguments, Output& output);
int RunEvaluate(const Arguments& arguments, Output& output);
int RunBench(const Arguments& arguments, Output& output);
int RunInspect(const Arguments& arguments, Output& output);
int RunCapture(const Arguments& arguments, Output& output);
int RunWorkloadList(const Arguments& arguments, Output& output);
int RunWorkloadShow(const Arguments& arguments, Output& output);
int RunWorkloadExport(const Arguments& arguments, Output& output);
int RunWorkloadDrop(const Arguments& arguments, Output& output);
int RunImport(const Arguments& arguments, Output& output);
// Of cupilot.export/1, as proposals for the daemon; the path is absolute.
int RunImportKept(const std::string& path, bool marks, Output& output);
int RunDiff(const Arguments& arguments, Output& output);
int RunPin(const Arguments& arguments, Output& output);
int RunReject(const Arguments& arguments, Output& output);
int RunPrune(const Arguments& arguments, Output& output);
int RunForget(const Arguments& arguments, Output& output);
int RunPurge(const Arguments& arguments, Output& output);
int RunExport(const Arguments& arguments, Output& output);
int RunModelsStatus(const Arguments& arguments, Output& output);
int RunModelsLast(const Arguments& arguments, Output& output);
int RunModelsAllow(const Arguments& arguments, Output& output);
int RunModelsForbid(const Arguments& arguments, Output& output);
int RunStrategiesList(const Arguments& arguments, Output& output);
int RunStrategiesShow(const Arguments& arguments, Output& output);
int RunStrategiesExport(const Arguments& arguments, Output& output);
int RunStrategiesImport(const Arguments& arguments, Output& output);
int RunSearchReplay(const Arguments& arguments, Output& output);
int RunDoctor(const Arguments& arguments, Output& output);
int RunConfig(const Arguments& arguments, Output& output);
int RunDaemonStart(const Arguments& arguments, Output& output);
int RunDaemonStop(const Arguments& arguments, Output& output);
int RunDaemonLogs(const Arguments& arguments, Output& output);
int RunSnooze(const Arguments& arguments, Output& output);
int RunResume(const Arguments& arguments, Output& output);

// `commands`: all that there are.
int Generate(const Arguments& arguments, const std::vector<std::string>& commands, Output& output);

}  // namespace cupilot::client
