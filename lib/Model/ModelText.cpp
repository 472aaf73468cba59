// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stable text form of a model: what tests compare and --print-after=model
// shows. One line an entity; text of the source in back quotes.

#include "rcache/Model.h"
#include "llvm/Support/raw_ostream.h"
#include <sstream>

namespace rcache {
namespace {

template <typename T> std::string str(const T &X) {
  if (X.is_null())
    return "?";
  std::ostringstream OS;
  OS << X;
  return OS.str();
}

std::string dependsText(unsigned D) {
  static const char *const Names[] = {"tx", "ty", "tz",     "bx",
                                      "by", "bz", "shared", "global"};
  std::string S;
  for (unsigned I = 0; I < 8; ++I)
    if (D & (1u << I))
      S += (S.empty() ? "" : ",") + std::string(Names[I]);
  return S.empty() ? "-" : S;
}

std::string valueText(const ValueRef &V) {
  if (!V)
    return "none";
  std::string S;
  switch (V->K) {
  case Value::Affine:
    return str(V->Aff);
  case Value::Uniform:
    return "uniform `" + V->Text + "`";
  case Value::Undefined:
    return "undefined";
  case Value::Unknown:
    return "unknown `" + V->Text + "`";
  case Value::Load:
    S = "load " + V->Text;
    break;
  case Value::Select:
    S = "select " + str(V->Cond);
    break;
  case Value::Op:
    S = "op `" + V->Text + "`";
    break;
  }
  for (size_t I = 0; I < V->Operands.size(); ++I)
    S += (I ? ", " : " (") + valueText(V->Operands[I]);
  return V->Operands.empty() ? S : S + ")";
}

/// One line, however many the source has.
std::string oneLine(std::string S, size_t Max = 60) {
  std::string R;
  for (char C : S) {
    bool Space = C == ' ' || C == '\n' || C == '\t' || C == '\r';
    if (!Space)
      R += C;
    else if (!R.empty() && R.back() != ' ')
      R += ' ';
  }
  if (R.size() > Max)
    R = R.substr(0, Max - 3) + "...";
  return R;
}

const char *const StmtNames[] = {"block",   "leaf",   "decl",  "if",
                                 "for",     "while",  "do",    "switch",
                                 "barrier", "return", "break", "continue"};
const char *const AccessNames[] = {"read", "write", "read-write", "atomic",
                                   "escape"};
const char *const GlobalNames[] = {"read", "write", "read-write", "atomic"};
const char *const SymbolNames[] = {"threadIdx", "blockIdx", "blockDim",
                                   "gridDim",   "param",    "iterator",
                                   "opaque"};
const char *const SyncNames[] = {"__syncthreads", "reducing", "group",
                                 "__syncwarp"};

void printStmt(const KernelModel &M, unsigned Id, unsigned Indent,
               llvm::raw_ostream &OS) {
  const Stmt &S = M.Stmts[Id];
  OS.indent(Indent) << "#" << Id << " " << StmtNames[S.K];
  switch (S.K) {
  case Stmt::If:
  case Stmt::While:
  case Stmt::Do:
  case Stmt::Switch:
    OS << " `" << oneLine(M.text(S.CondRange)) << "`";
    if (!S.Cond.is_null())
      OS << " " << str(S.Cond);
    OS << " depends " << dependsText(S.CondDepends);
    break;
  case Stmt::For:
    OS << " `" << oneLine(M.text(S.HeaderRange)) << "`";
    if (!S.IterDomain.is_null()) {
      OS << " iterator " << M.Symbols[S.IterSymbol].Id << " in "
         << str(S.IterDomain);
      if (S.Step)
        OS << " step " << *S.Step;
      if (S.ConstTripCount)
        OS << " trips " << *S.ConstTripCount;
      if (S.ConstFirst)
        OS << " first " << *S.ConstFirst;
      if (S.Cooperative)
        OS << " cooperative " << dependsText(S.CooperativeAxes);
    }
    if (S.Factor)
      OS << " factor " << *S.Factor << " from " << str(S.Init);
    if (S.IterDomain.is_null() && !S.Cond.is_null())
      OS << " while " << str(S.Cond);
    if (S.HasUnrollPragma)
      OS << " unroll";
    if (S.UnrollCount)
      OS << " " << S.UnrollCount;
    break;
  case Stmt::Barrier:
    OS << " " << SyncNames[S.Sync];
    break;
  case Stmt::Block:
    break;
  default:
    OS << " `" << oneLine(M.text(S.Range)) << "`";
  }
  for (const Stmt::Recurrence &R : S.Carried) {
    auto Name = [&](int Symbol) {
      return Symbol < 0 ? "-" : M.Symbols[static_cast<size_t>(Symbol)].Id;
    };
    OS << " carries " << Name(R.Symbol) << " from " << str(R.First) << " by "
       << str(R.Next) << " to " << Name(R.After);
  }
  if (!S.DomainExact)
    OS << " inexact";
  OS << "\n";
  for (unsigned C : S.Children)
    printStmt(M, C, Indent + 2, OS);
}

std::string dims(const std::array<int64_t, 3> &D) {
  return std::to_string(D[0]) + "x" + std::to_string(D[1]) + "x" +
         std::to_string(D[2]);
}

void printHead(const KernelModel &M, llvm::raw_ostream &OS) {
  OS << "kernel " << M.Signature << "\n";
  if (!M.TemplateHead.empty())
    OS << "  " << oneLine(M.TemplateHead) << "\n";
  for (const Decline &D : M.Declines)
    OS << "  decline " << spelling(D.Code) << " at " << D.Pos.Line << ":"
       << D.Pos.Column << (D.Detail.empty() ? "" : " " + D.Detail) << "\n";
  OS << "  geometry";
  if (M.Geo.ConstBlock)
    OS << " block " << dims(*M.Geo.ConstBlock);
  for (const auto &B : M.Geo.SeenBlocks)
    OS << " seen " << dims(B);
  if (M.Geo.MaxThreads)
    OS << " at most " << *M.Geo.MaxThreads;
  if (M.Geo.MostBlocks)
    OS << " grid " << *M.Geo.MostBlocks << " blocks";
  OS << "\n";
  for (const LaunchFact &F : M.Assumes)
    OS << "  assumes " << M.launchCondition(F, "grid", "block") << "\n";
  for (const LaunchSite &L : M.Launches) {
    OS << "  launch at " << L.Pos.Line << ":" << L.Pos.Column << " `"
       << L.Callee << "` grid `" << oneLine(L.Grid) << "` block `"
       << oneLine(L.Block) << "`";
    if (!L.SharedBytes.empty())
      OS << " shared `" << oneLine(L.SharedBytes) << "`";
    if (!L.Stream.empty())
      OS << " stream `" << oneLine(L.Stream) << "`";
    if (L.ConstGrid)
      OS << " = grid " << dims(*L.ConstGrid);
    for (const auto &G : L.PossibleGrids)
      OS << " or grid " << dims(G);
    if (L.ConstBlock)
      OS << " = block " << dims(*L.ConstBlock);
    if (L.InTemplate)
      OS << " in-template";
    if (!L.Editable)
      OS << " not editable: " << L.WhyNot;
    OS << "\n";
  }
}

void printNames(const KernelModel &M, llvm::raw_ostream &OS) {
  for (const KernelParam &P : M.Params) {
    OS << "  param `" << P.Type << "` " << P.Name;
    if (P.IsPointer)
      OS << (P.PointeeConst ? " const" : "")
         << (P.IsRestrict ? " restrict" : "") << (P.Written ? " written" : "");
    OS << "\n";
  }
  for (const SharedArray &A : M.Arrays) {
    OS << "  shared " << A.Name << ": " << A.ElemType;
    if (A.ElemType != A.CanonicalType)
      OS << " = " << A.CanonicalType;
    for (const auto &E : A.Extents)
      OS << "[" << (E ? std::to_string(*E) : "") << "]";
    OS << " bytes " << A.ElemBytes << (A.Dynamic ? " dynamic" : "")
       << (A.Volatile ? " volatile" : "")
       << (A.AtFileScope ? " file-scope" : "") << "\n";
  }
  for (const Var &V : M.Vars) {
    if (V.IsParam)
      continue;
    OS << "  var `" << V.Type << "` " << V.Name;
    for (int64_t E : V.ArrayExtents)
      OS << "[" << E << "]";
    OS << " depends " << dependsText(V.Depends)
       << (V.Assigned ? " assigned" : "") << (V.AddressTaken ? " address" : "")
       << (V.Repeatable ? " repeatable" : "")
       << (V.DynamicIndex ? " dynamic-index" : "");
    if (V.Init)
      OS << " = " << valueText(V.Init);
    OS << "\n";
  }
  for (const Symbol &S : M.Symbols) {
    // Builtins that no one uses are of no interest.
    bool Builtin = S.K <= Symbol::GridDim;
    if (Builtin)
      continue;
    OS << "  symbol " << S.Id << " " << SymbolNames[S.K] << " `"
       << oneLine(S.Text) << "` " << S.Type << " depends "
       << dependsText(S.Depends) << (S.Anywhere ? " anywhere" : "") << "\n";
  }
}

} // namespace

static void printPrivates(const KernelModel &M, llvm::raw_ostream &OS) {
  for (const PrivateArray &A : M.Privates) {
    if (!M.Vars[A.Var].DynamicIndex)
      continue;
    OS << "  private " << M.Vars[A.Var].Name << ": " << A.CanonicalType
       << " bytes " << A.ElemBytes << " init "
       << (A.HasInit ? std::to_string(A.Init.size()) : "none");
    for (const PrivateArray::Use &U : A.Uses)
      OS << " `" << oneLine(M.text(U.Range)) << "` in #" << U.Stmt
         << (U.Apart > 1 ? " apart " + std::to_string(U.Apart)
             : U.ByThread  ? " by thread"
                           : "");
    if (A.Stays)
      OS << " stays: " << A.Stays->Detail;
    OS << "\n";
  }
}

static void printAtStart(const KernelModel &M, llvm::raw_ostream &OS) {
  for (const Stmt &S : M.Stmts)
    for (const Stmt::Held &H :
         S.AtStart.value_or(std::vector<Stmt::Held>())) {
      OS << "  round of #" << S.Id << " starts with " << M.Vars[H.Var].Name;
      if (H.Element >= 0)
        OS << "(" << H.Element << ")";
      if (H.Root >= 0)
        OS << " at " << M.Params[static_cast<size_t>(H.Root)].Name;
      OS << " = " << (H.V ? valueText(H.V) : "?");
      if (H.LateRounds)
        OS << " after " << H.LateRounds;
      OS << "\n";
    }
}

void KernelModel::print(llvm::raw_ostream &OS) const {
  printHead(*this, OS);
  printNames(*this, OS);
  if (!Stmts.empty())
    printStmt(*this, 0, 2, OS);
  for (const SharedAccess &A : SharedAccesses) {
    OS << "  shared " << AccessNames[A.K]
       << (A.AllMembers  ? " all of " + std::to_string(A.Lanes)
           : A.Lanes > 1 ? " one of " + std::to_string(A.Lanes)
                         : "")
       << " `" << oneLine(text(A.Range))
       << "` in #" << A.Stmt << " [";
    for (size_t I = 0; I < A.IndexValues.size(); ++I)
      OS << (I ? ", " : "")
         << (A.Affine ? str(A.Index[I]) : valueText(A.IndexValues[I]));
    OS << "] when " << str(A.Domain);
    if (!A.DomainExact)
      OS << " inexact";
    for (const ValueRef &G : A.ExtraGuards)
      OS << " and " << valueText(G);
    if (A.Stored)
      OS << " := " << valueText(A.Stored);
    OS << "\n";
  }
  printPrivates(*this, OS);
  printAtStart(*this, OS);
  for (const GlobalAccess &A : GlobalAccesses) {
    OS << "  global " << GlobalNames[A.K] << " `" << oneLine(text(A.Range))
       << "` in #" << A.Stmt << " root "
       << (A.Root >= 0 ? Params[A.Root].Name : "?") << " ["
       << valueText(A.Index) << "] when " << str(A.Domain)
       << (A.DomainExact ? "" : " inexact") << "\n";
  }
}

} // namespace rcache
