// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA program, compiled and ready to be called in this process:
//
//   source --Frontend--> two modules --Lower, optimise, Instrument--> code

#ifndef RCACHE_CHECK_JIT_H
#define RCACHE_CHECK_JIT_H

#include "Frontend.h"
#include "Runtime.h"
#include "SumForms.h"

#include <functional>
#include <memory>
#include <string>

namespace rcache::check {

struct JitOptions {
  FrontendOptions Frontend;
  bool Checks = true;      ///< bounds and races
  bool Definedness = true; ///< values that were never initialised
  bool Symbolic = false;   ///< expressions instead of all checks
  bool Overflow = false;   ///< signed integers too; only in clang's code
  /// Compare what ptxas fuses with what is assumed of it, with a note where
  /// they differ; only with nvcc's code.
  bool MachineCode = false;
  /// Machine code is made in a moment, and takes longer to run: for programs whose
  /// launches are few and small.
  bool Quickly = false;
  std::string DumpDir;     ///< where to write intermediate modules; or empty
  /// Host functions that will be looked up; what they do not reach is neither
  /// compiled nor there. Empty: everything is.
  std::vector<std::string> Roots;
  /// Host functions and variables of other files are not missed: who calls one
  /// ends the process.
  bool StubMissing = false;
  /// Called when all is compiled, before the first line of the program's own
  /// code runs (static constructors).
  std::function<void()> BeforeUserCode;
  /// Called when it is known whose the device code is: nvcc's ('n'), clang's ('c'), or
  /// clang's because nvcc does not compile it ('r').
  std::function<void(char)> Whose;
  /// Told what a user may want to know.
  std::function<void(const std::string &)> Note;
};

/// Device code that has been compiled already (see summarise).
struct DeviceCode {
  std::unique_ptr<llvm::LLVMContext> Context;
  std::unique_ptr<llvm::Module> Module;
  DeviceCode();
  DeviceCode(DeviceCode &&);
  DeviceCode &operator=(DeviceCode &&);
  ~DeviceCode();
};

class CompiledProgram {
public:
  /// From the files of one program. Null with \p Error set (and clang's diagnostics in it) on failure. The
  /// program's registrations and static constructors have run when this
  /// returns.
  static std::unique_ptr<CompiledProgram>
  create(const std::vector<std::string> &Sources, const JitOptions &Opts,
         std::string &Error);
  /// The same for one file whose device code is at hand.
  static std::unique_ptr<CompiledProgram>
  create(const std::string &Source, DeviceCode Device, const JitOptions &Opts,
         std::string &Error);
  /// Fills in what the user left open in \p FE and starts LLVM.
  static bool prepare(FrontendOptions &FE, std::string &Error);
  ~CompiledProgram();

  /// Address of a host function, null if there is none.
  void *lookup(const std::string &Name);
  /// Runs main. \p Args includes the program's name.
  int runMain(const std::vector<std::string> &Args);
  /// What the end of a process does: handlers of atexit, static destructors.
  void runExitHandlers();
  const Program &program() const;
  /// Does device code contain atomic operations whose outcome depends on the
  /// order of blocks (sums of floating-point values, tickets)?
  bool orderDependent() const;
  /// Is the device code nvcc's?
  bool fromNvcc() const;
  /// Whose it is, for a line of text: "nvcc's", "clang's, ...".
  const std::string &deviceCode() const;
  /// How the sums of \p Kernel (a mangled name) are computed; only of nvcc's code.
  const SumForms &sums(const std::string &Kernel) const;

private:
  CompiledProgram();
  struct Impl;
  struct Parts;
  static std::unique_ptr<llvm::Module> compileDevice(Parts &P, const std::string &Source,
                                                     std::string &Error);
  static bool addDevice(Parts &P, std::unique_ptr<llvm::Module> One,
                        const std::string &Source, std::string &Error);
  static bool fromNvcc(Parts &P, const JitOptions &Opts);
  static std::unique_ptr<CompiledProgram>
  build(Parts &P, const JitOptions &Opts, std::string &Error);
  std::unique_ptr<Impl> I;
};

/// Variables become values and blocks in a row one, for PTX that has been lowered.
void registersToValues(llvm::Module &M);

/// Asks the runtime for the variables of \p Host that each thread has one of.
void lowerThreadLocals(llvm::Module &Host);

/// Do nvcc's \p Flags ask for device code that names other files'?
bool compilesSeparately(const std::vector<std::string> &Flags);

/// Gives what \p Device, of a program's file number \p File, defines for itself a name
/// that \p Others, the files before, do not have; in \p Host, which registers it, as well.
/// \p Separately: with separate compilation, where only what is static is the file's.
void keepApart(const llvm::Module &Others, llvm::Module &Device, llvm::Module &Host,
               unsigned File, bool Separately);

} // namespace rcache::check

#endif
