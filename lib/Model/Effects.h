// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a called function may do besides computing a value from its arguments.
// Functions of the toolkit are judged by what they are, functions of the user
// by their bodies, callees included.

#ifndef RCACHE_LIB_MODEL_EFFECTS_H
#define RCACHE_LIB_MODEL_EFFECTS_H

#include "rcache/Decline.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include <string>
#include <vector>

namespace rcache {

struct KernelModel;

enum class CallKind {
  Harmless,      ///< value of its arguments, or reads and writes through them
  Barrier,       ///< __syncthreads()
  BarrierReduce, ///< __syncthreads_and, _or, _count
  GroupBarrier,  ///< cg::sync(block), block.sync()
  WarpBarrier,   ///< __syncwarp()
  GridBarrier,   ///< synchronises the grid or a cluster
  BlockGroup,    ///< block.thread_rank(), this_thread_block(): ids of a block
  WarpExchange,  ///< shuffles, votes, matches, tiles of warps
  Atomic,
  AsyncCopy,
  Tensor,
  Library, ///< works in shared storage of its own (CUB)
  Effect,  ///< printf, clock, malloc, fences across blocks
  NoBody   ///< user function, only declared
};

struct CallInfo {
  CallKind Kind = CallKind::Harmless;
  std::string Name; ///< as the user knows it
};

/// Is \p D declared in a namespace called \p Name, at any depth?
bool inNamespace(const clang::Decl *D, llvm::StringRef Name);
/// Does a function of cooperative groups called \p Name say who or how many threads are?
bool isGroupId(llvm::StringRef Name);
/// The definition of \p F; null: none is visible.
const clang::FunctionDecl *bodyOf(const clang::FunctionDecl *F);

/// Judges the callee itself, not its body. \p Call may be null.
CallInfo classifyCall(const clang::FunctionDecl *F,
                      const clang::CallExpr *Call);

/// Dependence bits that a call adds to those of its arguments.
unsigned callDepends(const clang::CallExpr *C);

/// The function's result depends on its arguments (and memory behind them)
/// only, and it changes nothing: repeating a call is the same call.
bool isPure(const clang::FunctionDecl *F);

/// Does a call of the toolkit's or compiler's \p F do nothing but state that something
/// holds (`__builtin_assume`, `__builtin_unreachable`)? Where it does not, what a thread
/// does is undefined, so none may come there that the original kept from it.
bool statesOnly(const clang::FunctionDecl *F);
/// The same of attributes, `[[assume(n > 0)]]`.
bool statesOnly(const clang::AttributedStmt *S);

/// May a thread call the user's function \p F that the original kept from it,
/// with whatever arguments it has? F then ends, reads and changes nothing but
/// its parameters and variables, and holds no floating-point product that
/// another call could share (Fusion.cpp marks arguments by value only).
bool isHarmlessAnywhere(const clang::FunctionDecl *F);

/// True if the function stands in a system header (the toolkit) and calls none of the
/// user's: it is no template, or one of types and values that are not the user's.
bool isSystemFunction(const clang::FunctionDecl *F);

/// The `extern __shared__` array that \p F returns a pointer to, when that is
/// all it does (the SharedMemory<T> struct of many programs); else null.
const clang::VarDecl *sharedAccessor(const clang::FunctionDecl *F);

/// A reason why a kernel cannot be handled, at a place in it.
struct Obstacle {
  DeclineCode Code;
  std::string Detail;
  clang::SourceLocation Loc;
};

/// Obstacles in the body of kernel \p FD, those in bodies of called functions
/// placed at the call. Barriers and atomics of the kernel itself are no
/// obstacles here. Fills SharesInCalls and WideSums of \p M.
std::vector<Obstacle> findObstacles(const clang::FunctionDecl *FD, KernelModel &M);

/// Names, for host code that follows the kernel, of the __device__ variables
/// that \p Kernel or a function it calls may change.
std::vector<std::string> deviceVariables(const clang::FunctionDecl *Kernel);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_EFFECTS_H
