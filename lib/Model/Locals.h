// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of a kernel's names without following its control flow: its
// parameters, variables, shared arrays and builtin variables, where they occur,
// which are modified, and on what their values depend.

#ifndef RCACHE_LIB_MODEL_LOCALS_H
#define RCACHE_LIB_MODEL_LOCALS_H

#include "Anchors.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

/// Fills KernelModel::OwnViews, Apart, SummedProducts and ProductVars; see Fusion.cpp.
void keepProductsApart(const clang::FunctionDecl *FD, FlatText &Flat,
                       KernelModel &M);

/// Fills KernelModel::LaneExchanges; see LaneExchanges.cpp.
void findLaneExchanges(const clang::FunctionDecl *FD, FlatText &Flat,
                       KernelModel &M);

/// The members of \p T where it is a struct of public numbers, and arrays of
/// them, without functions and bases; empty: it is not.
std::vector<StructMember> membersOf(clang::ASTContext &AC,
                                           clang::QualType T);

/// ... of a struct of two to eight numbers of one type without gaps: a vector.
std::vector<StructMember> lanesOf(clang::ASTContext &AC, clang::QualType T);

/// Is an object of \p R that is declared without a value, and assigned later, what it would
/// be if it had been made at once: does no function of the user's run in between? (Those
/// of the toolkit's classes, as half2, do.)
bool isRemade(const clang::CXXRecordDecl *R, const clang::SourceManager &SM);

class Locals {
public:
  /// Fills Params, Vars, VarUses, Builtins and Arrays of \p M.
  Locals(clang::ASTContext &AC, KernelModel &M, FlatText &Flat,
         const clang::FunctionDecl *FD);

  /// Index in KernelModel::Vars / Arrays / Params, or -1.
  int varIndex(const clang::VarDecl *V) const { return find(VarIndex, V); }
  const clang::VarDecl *variable(int Index) const;
  int arrayIndex(const clang::VarDecl *V) const { return find(ArrayIndex, V); }
  int paramIndex(const clang::VarDecl *V) const { return find(ParamIndex, V); }
  /// The vectors with which an array is declared that is the array of their members
  /// in the model; "": it is declared as it is.
  std::string declaredAs(int Array) const {
    auto It = DeclaredAs.find(static_cast<unsigned>(Array));
    return It == DeclaredAs.end() ? "" : It->second;
  }
  /// What the elements of a dynamic array are where the kernel uses it by elements
  /// and by vectors of them; "": not so.
  std::string elementType(int Array) const {
    auto It = ElementTypes.find(static_cast<unsigned>(Array));
    return It == ElementTypes.end() ? "" : It->second;
  }

  /// Dependence bits of the value of \p E, whatever path was taken.
  unsigned depends(const clang::Expr *E) const;
  /// The same of how many rounds \p Loop, a for, while or do, has.
  unsigned roundsDepend(const clang::Stmt *Loop) const;
  /// The variables modified in \p S.
  void assignedIn(const clang::Stmt *S,
                  llvm::SmallPtrSetImpl<const clang::VarDecl *> &Vars) const;
  /// The variables that \p S names, in the order of the text.
  std::vector<unsigned> named(const clang::Stmt *S) const;
  /// A parameter that has its value everywhere.
  bool unchangedParam(int Index) const {
    const Var &V = M.Vars[Index];
    return V.IsParam && !V.Assigned && !V.AddressTaken;
  }
  /// Names whose occurrence in a macro makes it be expanded.
  static llvm::StringSet<> anchorNames(const clang::FunctionDecl *FD);

private:
  friend class LocalsVisitor;
  static int find(const llvm::DenseMap<const clang::VarDecl *, unsigned> &Map,
                  const clang::VarDecl *V) {
    auto It = Map.find(V);
    return It == Map.end() ? -1 : static_cast<int>(It->second);
  }
  void addParams(const clang::FunctionDecl *FD);
  void addVar(const clang::VarDecl *V, const clang::DeclStmt *D);
  void initForm(const clang::VarDecl *V, Var &X);
  void findHolders(const clang::FunctionDecl *FD);
  void addArray(const clang::VarDecl *V, const clang::DeclStmt *D);
  void findElements(const clang::FunctionDecl *FD); // VectorViews.cpp
  std::string nameOf(clang::QualType T) const;
  std::map<unsigned, std::string> ElementTypes, DeclaredAs;
  std::string typeAsWritten(clang::TypeLoc TL, clang::QualType T) const;
  void flowToAddressTaken(unsigned D, bool &Changed);
  void flowTo(const clang::Expr *Lhs, unsigned D, bool &Changed);
  void flowIntoCall(const clang::Expr *E, bool &Changed);
  void flowDepends(const clang::Stmt *S, bool &Changed);
  void flowChildren(const clang::Stmt *S, unsigned Control, bool &Changed);
  unsigned controlOf(const clang::VarDecl *V) const;
  void addDepends(const clang::VarDecl *V, unsigned D, bool &Changed);
  unsigned exitDepends(const clang::Stmt *S, unsigned Control) const;
  void findRepeatable(const clang::FunctionDecl *FD);
  bool isRepeatable(const clang::Stmt *S) const;

  clang::ASTContext &AC;
  KernelModel &M;
  FlatText &Flat;
  /// While dependences flow: what decides whether this point is reached, and
  /// how much of that stood around each declaration.
  std::vector<unsigned> Controls;
  llvm::DenseMap<const clang::VarDecl *, unsigned> DeclaredAt;
  llvm::DenseMap<const clang::VarDecl *, unsigned> VarIndex, ArrayIndex,
      ParamIndex;
};

/// What an lvalue may name: variables, or memory that no name leads to.
struct Places {
  llvm::SmallVector<const clang::VarDecl *, 2> Vars;
  bool Memory = false;
};
/// Follows \p E, an lvalue or (\p Pointee) a pointer, to the variables it stands
/// in: `x.y`, `w[i]`, `*&x`, `*(float4 *)&w[0]`, `c ? x : y`.
Places placesOf(const clang::Expr *E, bool Pointee);

/// May a function change what it gets for a parameter of that type?
bool handsOut(clang::QualType Param);

/// The name of \p P, or the one that stands for it when the source gives none:
/// with \p Prefix in front.
std::string paramName(const clang::ParmVarDecl *P, const std::string &Prefix);

/// The variable at the root of an lvalue `v`, `v.x`, `v[i].y`; null: none.
const clang::VarDecl *rootVariable(const clang::Expr *E);

/// True for `__shared__` variables, also those of file scope.
bool isSharedVar(const clang::VarDecl *V);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_LOCALS_H
