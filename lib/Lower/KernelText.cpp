// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lowered kernel for people and tests: a line a node, what it names behind it.

#include "Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace rcache;

namespace {

class TreeText {
public:
  TreeText(llvm::raw_ostream &OS, const KernelModel &M, const Plan &P)
      : OS(OS), M(M), P(P) {}

  void body(const Sequence &S, unsigned Depth) {
    for (const Node &N : S)
      std::visit([&](const auto &X) { print(X, Depth); }, N.Is);
  }

private:
  llvm::raw_ostream &OS;
  const KernelModel &M;
  const Plan &P;

  llvm::raw_ostream &line(unsigned Depth) { return OS.indent(2 * Depth); }

  /// The code on one line, in short, and the variables that it uses.
  std::string shown(const Code &C) const {
    std::string T;
    for (char X : Code::plain(C.print(M, {[](unsigned) { return false; }, ""})))
      if (!llvm::isSpace(X) || (!T.empty() && T.back() != ' '))
        T += llvm::isSpace(X) ? ' ' : X;
    T = llvm::StringRef(T).rtrim().str();
    if (T.size() > 60)
      T = T.substr(0, 57) + "...";
    std::string Uses;
    for (unsigned V : C.variables(M))
      Uses += " " + M.Vars[V].Name;
    return "`" + T + "`" + (Uses.empty() ? "" : " uses" + Uses);
  }

  void print(const Statements &X, unsigned D) {
    line(D) << "statements " << shown(X.Text) << "\n";
  }
  void print(const PerSlotVar &X, unsigned D) {
    line(D) << "per slot " << M.Vars[X.Var].Name
            << (X.Zeroed ? ", zeroed\n" : "\n");
  }
  void print(const ActiveFlags &, unsigned D) { line(D) << "active flags\n"; }
  void print(const Leave &X, unsigned D) {
    line(D) << "leave if " << shown(X.If) << "\n";
  }
  void print(const SlotLoop &X, unsigned D) {
    line(D) << (X.Pair ? "slots, by pairs\n" : "slots\n");
    body(X.Body, D + 1);
  }
  void print(const Exchange &X, unsigned D) {
    line(D) << "exchange at " << X.Barrier << " " << shown(X.Text) << "\n";
  }
  void print(const Sync &X, unsigned D) {
    line(D) << (X.Scope == SyncScope::Warp ? "barrier of a warp\n"
                                           : "barrier\n");
  }
  void print(const Braces &X, unsigned D) {
    line(D) << "block\n";
    body(X.Body, D + 1);
  }
  void print(const If &X, unsigned D) {
    line(D) << "if " << shown(X.Cond) << "\n";
    body(X.Then, D + 1);
    if (X.HasElse) {
      line(D) << "else\n";
      body(X.Else, D + 1);
    }
  }
  void print(const Loop &X, unsigned D) {
    line(D) << "loop " << shown(X.Head) << (X.Unrolled ? ", unrolled\n" : "\n");
    body(X.Body, D + 1);
  }
  void print(const RowLoop &X, unsigned D) {
    line(D) << "rows, " << X.Forms.size() << " forms\n";
    body(X.Body, D + 1);
  }
  void print(const IfAnySlot &X, unsigned D) {
    line(D) << "if any slot\n";
    print(X.Test, D + 1);
    body(X.Body, D + 1);
  }
  void print(const Collected &X, unsigned D) {
    line(D) << "collect " << collectedName(M, P, X.Store)
            << (X.Flags ? " with flags\n" : "\n");
  }
  void print(const StoreRun &X, unsigned D) {
    line(D) << "store run " << collectedName(M, P, X.Store) << ", "
            << P.VectorStores[X.Store].Bytes << " bytes, at "
            << shown(X.Index) << "\n";
  }
};

} // namespace

void rcache::printTree(llvm::raw_ostream &OS, const LoweredKernel &K,
                       const KernelModel &M, const Plan &P) {
  TreeText(OS, M, P).body(K.Body, 1);
}
