// Doctor's judgement: pure functions of facts.
#pragma once

#include <vector>

#include "client/doctor/check.h"
#include "client/doctor/facts.h"

namespace cupilot::client {

DoctorCheck CheckPrograms(const ProgramFacts& facts);
DoctorCheck CheckCompiler(const CompilerFacts& facts);
DoctorCheck CheckToolkit(const ToolkitFacts& facts);
DoctorCheck CheckNvrtc(const ToolkitFacts& facts);
DoctorCheck CheckDriver(const GpuFacts& facts);
DoctorCheck CheckGpu(const GpuFacts& facts);
DoctorCheck CheckCounters(const GpuFacts& facts);
DoctorCheck CheckWorker(const WorkerFacts& facts);
DoctorCheck CheckSandbox(const WorkerFacts& facts);
// Of each of the user's folders what is wrong with it; one good line where nothing is.
std::vector<DoctorCheck> CheckFolders(const FolderFacts& facts);
DoctorCheck CheckDisk(const FolderFacts& facts);
DoctorCheck CheckHome(const FolderFacts& facts);
DoctorCheck CheckSettings(const SettingsFacts& facts);
DoctorCheck CheckDaemon(const DaemonFacts& facts);
// What builds lack; nothing where they lack nothing.
std::vector<DoctorCheck> CheckCode(const DaemonFacts& facts);
DoctorCheck CheckLingering(const SystemFacts& facts);
DoctorCheck CheckKernel(const SystemFacts& facts);
DoctorCheck CheckWatches(const SystemFacts& facts);
DoctorCheck CheckClock(const SystemFacts& facts);
DoctorCheck CheckDeviceLock(const DeviceLockFacts& facts);
// One line for each that is gone; one good line where none is.
std::vector<DoctorCheck> CheckProjects(const std::vector<ProjectFacts>& facts);

// All of them, in the order in which they are shown.
std::vector<DoctorCheck> RunDoctorChecks(const DoctorFacts& facts);

}  // namespace cupilot::client
