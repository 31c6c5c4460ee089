// The machine code of kernels, as hashes: of a cubin that was measured, and of the images inside
// an object or a program, so that what ships can be compared with what was measured.
//
// Same hash of `.text.<kernel>`: the same instructions, hence the same evidence. Another one says
// only that the evidence is not of this code.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/swap/fat_binary.h"

namespace cupilot::source {

// Mangled name and BLAKE2b-160 of the code, in the order of the image.
using TextHashes = std::vector<std::pair<std::string, std::string>>;

// kUnsupported: not a cubin.
base::Result<TextHashes> TextHashesOfCubin(std::span<const std::byte> cubin);

// What kernels of the image have beside their code: bytes of constants and of initialised
// variables, and how much static shared memory each takes. Two images of equal code and data do the
// same in the same time. kUnsupported: not a cubin.
base::Result<std::string> DataHashOfCubin(std::span<const std::byte> cubin);

// All entries of device code inside an object file or a program. Errors as DeviceImagesOf's.
base::Result<std::vector<FatEntry>> FatEntriesOf(const std::string& path, bool with_ptx = false);

struct DeviceImage {
  int architecture = 0;  // 90; sm_90a is 90 here too
  TextHashes kernels;
};

// The cubins inside an object file or a program (not its PTX), also compressed ones. Empty for a
// file without device code. kUnsupported: not an ELF file, or packed in a way that we cannot read
// (the caller may ask cuobjdump). kIo, kNotFound: the file.
base::Result<std::vector<DeviceImage>> DeviceImagesOf(const std::string& path);

// A mangled name with what differs from file to file taken out: an unnamed namespace's name holds a
// hash of the file, and so does what nvcc puts around names that are internal to it.
std::string StableName(const std::string& mangled);

// Whether two mangled names say the same to people but for what nvcc puts around names that are
// internal to a file: of kernels by lambdas (records::Kernel::instance), whose names abbreviate
// what came before in them.
bool IsSameName(const std::string& one, const std::string& other);

// The hash of the kernel `mangled` (compared by StableName) in images of that architecture; empty
// if there is none, or if several images disagree.
std::string HashIn(const std::vector<DeviceImage>& images, int architecture,
                   const std::string& mangled);

// The code of a variant in images of that architecture, as evaluations name it (text_hash): the
// hash of its entry, or of several entries the hash of their hashes in sorted order. Empty: there
// is none.
std::string TextOfVariant(const std::vector<DeviceImage>& images, int architecture,
                          const std::string& variant_namespace);

}  // namespace cupilot::source
