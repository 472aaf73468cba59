// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Groups.h. The walk is an abstract interpretation with four states; the
// join of different states is Mixed, and a read in Mixed has no single group.

#include "Groups.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

namespace {

struct State {
  enum Kind { Unstaged, Dirty, Staged, Mixed } K = Unstaged;
  int Group = -1;
  bool ReadSinceBarrier = false;
  bool OfWarps = false; ///< staged by what orders a warp alone
  bool operator==(const State &O) const {
    return K == O.K && Group == O.Group;
  }
};

State join(const State &A, const State &B) {
  State R = A;
  R.ReadSinceBarrier = A.ReadSinceBarrier || B.ReadSinceBarrier;
  if (!(A == B)) {
    R.K = State::Mixed;
    R.Group = -1;
  }
  return R;
}

class Walk {
public:
  Walk(const KernelModel &M, unsigned Array) : M(M), Array(Array) {}

  GroupsResult run() {
    State S;
    visit(0, S);
    if (!Out.Reason)
      finish();
    return std::move(Out);
  }

private:
  const KernelModel &M;
  unsigned Array;
  GroupsResult Out;
  std::map<unsigned, int> GroupOfFirstWrite;
  std::map<unsigned, int> GroupOfRead;
  bool WroteBefore = false;

  void fail(DeclineCode Code, std::string Detail, SourcePos Pos) {
    if (!Out.Reason)
      Out.Reason = Decline{Code, std::move(Detail), std::move(Pos)};
  }

  std::string quoted() const { return "'" + M.Arrays[Array].Name + "'"; }

  void failExchange(std::string Detail, const SharedAccess &A) {
    fail(DeclineCode::ComputedExchange, quoted() + std::move(Detail), A.Pos);
  }

  void failInPlace(const SharedAccess &A) {
    // `s[0] = t[0] = 0` is none of `+=`.
    const std::string Behind =
        M.text({A.Range.End, std::min(A.Range.End + 8, M.BodyRange.End)});
    const llvm::StringRef Rest = llvm::StringRef(Behind).ltrim();
    failExchange(Rest.starts_with("=") && !Rest.starts_with("==")
                     ? " is written inside an expression"
                     : " is updated in place",
                 A);
  }

  /// The reason for which the states of the array cannot be told apart: where
  /// its elements are computed from elements, that they are; else \p Code.
  void failOrExchange(DeclineCode Code, std::string Detail, SourcePos Pos) {
    for (const SharedAccess &A : M.SharedAccesses) {
      if (A.Array != Array)
        continue;
      if (A.K == SharedAccess::ReadWrite)
        return failInPlace(A);
      if (A.K == SharedAccess::Write && A.Stored &&
          (A.Stored->Depends & DepShared))
        return failExchange(" takes values that are computed from shared data",
                            A);
    }
    fail(Code, std::move(Detail), std::move(Pos));
  }

  void visit(unsigned Id, State &S) {
    if (Out.Reason)
      return;
    const Stmt &St = M.stmt(Id);
    if (St.K == Stmt::Barrier)
      return barrier(Id, S);
    if (!St.HasBarrier)
      return plain(Id, S);
    switch (St.K) {
    case Stmt::Block:
      for (unsigned C : St.Children)
        visit(C, S);
      return;
    case Stmt::For:
    case Stmt::While:
    case Stmt::Do: {
      State Entry = S;
      for (int Round = 0; Round < 2; ++Round) {
        for (unsigned C : St.Children)
          visit(C, S);
        S = join(Entry, S);
        if (Round == 0 && S.K == State::Mixed)
          S.Group = -1;
      }
      return;
    }
    case Stmt::If: {
      State Then = S, Else = S;
      if (!St.Children.empty())
        visit(St.Children[0], Then);
      if (St.Children.size() > 1)
        visit(St.Children[1], Else);
      S = join(Then, Else);
      return;
    }
    default:
      fail(DeclineCode::DivergentBarrier,
           "a barrier inside a switch, or what else is no block, if or loop", St.Pos);
    }
  }

  void barrier(unsigned Id, State &S) {
    const Stmt &St = M.stmt(Id);
    // It orders the lanes of one warp only, so what is read behind it they have written
    // themselves: another warp's element would be a race.
    if (St.Sync == Stmt::Syncwarp && (S.K != State::Dirty || !keepsWarps() || !isOfWholeWarp(St)))
      return;
    S.ReadSinceBarrier = false;
    if (S.K != State::Dirty)
      return;
    StagingGroup &G = Out.Groups[S.Group];
    if (static_cast<int>(G.Block) != St.Parent)
      return failOrExchange(DeclineCode::SeveralIntervals,
                            quoted() + " is staged in one block of statements "
                                       "and the barrier stands in another",
                            St.Pos);
    G.Barrier = Id;
    S.K = State::Staged;
    S.OfWarps = St.Sync == Stmt::Syncwarp;
  }

  /// Are the threads of a warp in one warp whatever threads stand for several, and however
  /// many blocks lie in one? Where rows are whole warps, and where a warp is whole blocks.
  bool keepsWarps() const {
    const auto &Block = M.Geo.ConstBlock;
    return Block && ((*Block)[0] % 32 == 0 ||
                     ((*Block)[1] == 1 && (*Block)[2] == 1 && 32 % (*Block)[0] == 0));
  }

  /// `__syncwarp()`, with no mask or that of all lanes.
  bool isOfWholeWarp(const Stmt &St) const {
    const std::string Whole = M.text(St.Range);
    llvm::StringRef Mask = llvm::StringRef(Whole).split('(').second.rsplit(')').first.trim();
    Mask = Mask.rtrim("uU");
    return Mask.empty() || Mask.equals_insensitive("0xffffffff") || Mask == "-1" || Mask == "~0";
  }

  /// A statement without a barrier inside: its reads come first, then its
  /// writes; a statement with both is an exchange of computed values.
  void plain(unsigned Id, State &S) {
    const Stmt &St = M.stmt(Id);
    if (!St.HasSharedAccess)
      return;
    std::vector<unsigned> Reads, Writes;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &A = M.SharedAccesses[I];
      if (A.Array != Array || !St.Range.contains(A.Range))
        continue;
      switch (A.K) {
      case SharedAccess::Read:
        Reads.push_back(I);
        break;
      case SharedAccess::Write:
        Writes.push_back(I);
        break;
      case SharedAccess::ReadWrite:
        return failInPlace(A);
      case SharedAccess::Atomic:
        return fail(DeclineCode::SharedAtomics,
                    "atomic operation on " + quoted(), A.Pos);
      case SharedAccess::Escape:
        return fail(DeclineCode::EscapingArray,
                    "the address of " + quoted() + " is used", A.Pos);
      }
    }
    if (!Reads.empty() && !Writes.empty())
      return failExchange(" is read and written between two barriers",
                          M.SharedAccesses[Writes.front()]);
    for (unsigned R : Reads)
      read(R, S);
    for (unsigned W : Writes)
      write(W, Id, S);
  }

  void read(unsigned R, State &S) {
    const SharedAccess &A = M.SharedAccesses[R];
    if (S.K == State::Unstaged)
      return fail(DeclineCode::NotStaged,
                  quoted() + " is read before it is written", A.Pos);
    if (S.K == State::Dirty)
      return fail(DeclineCode::ComputedExchange,
                  quoted() +
                      " is read before the barrier that ends its staging",
                  A.Pos);
    if (S.K == State::Mixed)
      return failOrExchange(DeclineCode::BarrierInLoop,
                            "which writes of " + quoted() +
                                " this read sees differs from round to round",
                            A.Pos);
    S.ReadSinceBarrier = true;
    auto [It, New] = GroupOfRead.emplace(R, S.Group);
    if (!New && It->second != S.Group)
      return failOrExchange(
          DeclineCode::BarrierInLoop,
          "this read of " + quoted() + " sees the round before", A.Pos);
    auto &Rs = Out.Groups[S.Group].Reads;
    if (std::find(Rs.begin(), Rs.end(), R) == Rs.end())
      Rs.push_back(R);
  }

  void write(unsigned W, unsigned Child, State &S) {
    const SharedAccess &A = M.SharedAccesses[W];
    const Stmt &ChildStmt = M.stmt(Child);
    unsigned Parent = ChildStmt.Parent < 0 ? 0 : ChildStmt.Parent;
    // Nothing has been read yet: the staging goes on.
    if (S.K == State::Staged && S.OfWarps && Out.Groups[size_t(S.Group)].Reads.empty() &&
        Out.Groups[size_t(S.Group)].Block == Parent)
      S.K = State::Dirty;
    if (S.K != State::Dirty) {
      if (S.ReadSinceBarrier)
        Out.Notes.push_back(
            quoted() + " is written in line " + std::to_string(A.Pos.Line) +
            " without a barrier since it was read: a race in the original, unless these are "
            "other elements, or a thread's own");
      auto [It, New] =
          GroupOfFirstWrite.emplace(W, static_cast<int>(Out.Groups.size()));
      if (New) {
        StagingGroup G;
        G.Array = Array;
        G.Block = Parent;
        G.MayHoldOlder = WroteBefore;
        Out.Groups.push_back(std::move(G));
      } else {
        // Reached again in the second round of a loop.
        Out.Groups[It->second].MayHoldOlder = true;
      }
      S.K = State::Dirty;
      S.Group = It->second;
      WroteBefore = true;
    }
    StagingGroup &G = Out.Groups[S.Group];
    if (G.Block != Parent)
      return failOrExchange(
          DeclineCode::SeveralIntervals,
          quoted() + " is staged in several blocks of statements", A.Pos);
    if (std::find(G.Writes.begin(), G.Writes.end(), W) == G.Writes.end())
      G.Writes.push_back(W);
  }

  void finish() {
    std::erase_if(Out.Groups, [](const StagingGroup &G) {
      return G.Reads.empty() && G.Writes.empty();
    });
    for (StagingGroup &G : Out.Groups) {
      std::sort(G.Writes.begin(), G.Writes.end());
      std::sort(G.Reads.begin(), G.Reads.end());
      if (!G.Reads.empty() && M.stmt(G.Barrier).K != Stmt::Barrier)
        fail(DeclineCode::DivergentBarrier, quoted(), M.Arrays[Array].Pos);
    }
  }
};

} // namespace

GroupsResult rcache::findGroups(const KernelModel &M, unsigned Array) {
  return Walk(M, Array).run();
}

const Stmt *rcache::innerLoop(const KernelModel &M, const StagingGroup &G,
                              const SharedAccess &Acc, int Sym) {
  for (int P = static_cast<int>(Acc.Stmt);
       P >= 0 && P != static_cast<int>(G.Block); P = M.stmt(P).Parent)
    if (M.stmt(P).IterSymbol == Sym)
      return &M.stmt(P);
  return nullptr;
}
