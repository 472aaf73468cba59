// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements of the original as they stand in a rewritten kernel: copied, but
// for what a plan and the division of the statements change in them.
//
//     s[l + 1]          the window's register
//     threadIdx.x       the logical thread
//     return;           the slot's end
//     float v = ...;    one element a slot, or a declaration elsewhere
//     out[g] = v;       one of the collected values

#ifndef RCACHE_LOWER_STATEMENTTEXT_H
#define RCACHE_LOWER_STATEMENTTEXT_H

#include "Division.h"
#include "Fill.h"
#include "Names.h"

namespace rcache {

/// \p Type as a constant's, up to its name: `const float `; in front of a pointer it
/// would be the pointee's, so `const float *const `.
inline std::string constantOf(const std::string &Type) {
  return !Type.empty() && Type.back() == '*' ? Type + "const "
                                             : "const " + Type + " ";
}

class StatementText {
public:
  StatementText(const Queries &Q, const Names &N, const Fill &F,
                const Division &D)
      : Q(Q), M(Q.M), P(Q.P), N(N), F(F), D(D), Source(M) {}

  /// Where text stands.
  struct Place {
    bool InSlots = false;
    bool StoresLate = false; ///< which slots store is found out behind it
    int Alone = -1; ///< the statement that fills the slot loop by itself
  };

  /// The text of \p R, an expression or a statement. \p Skip: statements in it
  /// that are left out.
  Code copy(TextRange R, Place At, const std::set<unsigned> &Skip = {}) const;
  /// The statements of \p Rg, without those in \p Skip. If they are one block,
  /// without its braces.
  /// \p Without: other text, and what stands for it.
  Code copyRegion(const Region &Rg, Place At, const std::set<unsigned> &Skip,
                  llvm::ArrayRef<std::pair<TextRange, std::string>> Without = {}) const;
  /// The original's body with the barriers of the plan, and private arrays where
  /// the plan has them.
  Code copyOfAll() const;
  /// A declaration of \p V by itself.
  Code declaration(unsigned V, Place At) const;
  /// A name in a declaration with a value.
  Code declaredName(unsigned V) const;
  /// The variable of a loop counts, in other words than those of its header.
  Code counted(const Stmt &Loop) const;

  /// A declaration that cannot be written anew, or what else failed; "": none.
  /// NotAnew is a decline, Error a fault of ours.
  const std::string &notAnew() const { return NotAnew; }
  const std::string &error() const { return Error; }
  const std::set<std::string> &helpers() const { return Helpers; }
  const Queries &queries() const { return Q; }

private:
  const Queries &Q;
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  const Fill &F;
  const Division &D;
  const SourceCode Source;
  mutable std::string NotAnew, Error;
  mutable std::set<std::string> Helpers;
  mutable std::set<unsigned> Wrapping; ///< hidden text that is being written

  struct Edit {
    TextRange Range;
    Code Text;
  };
  using Edits = std::vector<Edit>;

  Code apply(TextRange R, Edits E) const;
  Code copy(TextRange R, Place At, const std::set<unsigned> &Skip,
            Edits E) const;
  void editStatement(const Stmt &St, Place At, Edits &E) const;
  void editLoop(const Stmt &St, Place At, Edits &E) const;
  void editDeclaration(const Stmt &St, Place At, Edits &E) const;
  void editStore(const Stmt &St, Place At, Edits &E) const;
  void editApart(TextRange R, Place At, Edits &E) const;
  void editReads(TextRange R, Place At, Edits &E) const;
  void hide(TextRange Hidden, Place At, Edits &E, TextRange R) const;
  Code apart(const Code &T) const;
  Code readFirst(unsigned I, const Division::TileRead &Read) const;
  void putElement(unsigned Access, Place At, Edits &E) const;
  void editOwned(TextRange R, Place At, Edits &E) const;
  void editInterleaved(TextRange R, Edits &E) const;
  Code roundsOfFirstWarp(const WarpRounds &R) const;
  std::string ofWarp(const Stmt &B) const;
  Code interleavedUses(TextRange R) const;
  Code interleavedInit(const PrivateArray &A) const;
  Code interleavedHead() const;
  Code interleavedExtents(const PrivateArray &A) const;
  Code declaredBeside(const std::vector<const PrivateArray *> &Moved) const;
  std::string blockThread() const;
  TextRange deletion(TextRange R) const;
  bool isRegister(const SharedAccess &A) const;
  bool inDead(TextRange R) const;
  bool parentIsBlock(const Stmt &St) const;
  bool hasEffects(TextRange R) const;
  bool isNamed(const Stmt &Loop) const;
  Code initText(const Var &V, Place At) const;
  Code perSlotInit(unsigned V, Place At) const;
  Code arrayInit(unsigned V, Place At) const;
  void cannotDeclare(const Var &V) const;
  std::string slotNumber() const;
};

} // namespace rcache

#endif // RCACHE_LOWER_STATEMENTTEXT_H
