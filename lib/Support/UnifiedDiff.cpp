// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unified diffs: split into lines, strip the common ends, find a shortest edit
// script by the greedy algorithm of Myers, group its changes into hunks.

#include "Support/UnifiedDiff.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <vector>

using llvm::StringRef;

namespace rcache {
namespace {

using Lines = std::vector<StringRef>;

/// Lines with their newline; only the last may lack it.
Lines splitLines(StringRef Text) {
  Lines Result;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Length = End == StringRef::npos ? Text.size() : End + 1;
    Result.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Result;
}

/// A run of lines that differ: Old[OldBegin, OldEnd) became
/// New[NewBegin, NewEnd). Either may be empty, not both.
struct Change {
  size_t OldBegin, OldEnd, NewBegin, NewEnd;
};

void addChange(std::vector<Change> &Changes, Change C) {
  if (!Changes.empty() && Changes.back().OldEnd == C.OldBegin &&
      Changes.back().NewEnd == C.NewBegin) {
    Changes.back().OldEnd = C.OldEnd;
    Changes.back().NewEnd = C.NewEnd;
    return;
  }
  Changes.push_back(C);
}

/// Myers' greedy algorithm. Furthest[k] is the furthest x reached on diagonal
/// k = x - y with d edits; the history of Furthest is walked back to read off
/// the script. Space is quadratic in d, hence MaxEdits.
std::vector<Change> shortestScript(const Lines &Old, const Lines &New) {
  constexpr long MaxEdits = 4000;
  const long N = Old.size(), M = New.size();
  const long Limit = std::min(N + M, MaxEdits);
  std::vector<std::vector<long>> History;
  std::vector<long> Furthest(2 * Limit + 3, 0);
  auto At = [&](std::vector<long> &V, long K, long Center) -> long & {
    return V[K + Center];
  };
  const long Center = Limit + 1;

  long Edits = -1;
  for (long D = 0; D <= Limit && Edits < 0; ++D) {
    // Only diagonals -D-1 .. D+1 are read later.
    History.emplace_back(Furthest.begin() + (Center - D - 1),
                         Furthest.begin() + (Center + D + 2));
    for (long K = -D; K <= D; K += 2) {
      bool Down = K == -D || (K != D && At(Furthest, K - 1, Center) <
                                            At(Furthest, K + 1, Center));
      long X =
          Down ? At(Furthest, K + 1, Center) : At(Furthest, K - 1, Center) + 1;
      long Y = X - K;
      while (X < N && Y < M && Old[X] == New[Y])
        ++X, ++Y;
      At(Furthest, K, Center) = X;
      if (X >= N && Y >= M) {
        Edits = D;
        break;
      }
    }
  }
  if (Edits < 0)
    return {{0, Old.size(), 0, New.size()}};

  std::vector<Change> Backwards;
  long X = N, Y = M;
  for (long D = Edits; D > 0; --D) {
    std::vector<long> &V = History[D];
    const long C = D + 1;
    long K = X - Y;
    bool Down = K == -D || (K != D && At(V, K - 1, C) < At(V, K + 1, C));
    long PrevK = Down ? K + 1 : K - 1;
    long PrevX = At(V, PrevK, C), PrevY = PrevX - PrevK;
    if (Down)
      Backwards.push_back(
          {size_t(PrevX), size_t(PrevX), size_t(PrevY), size_t(PrevY + 1)});
    else
      Backwards.push_back(
          {size_t(PrevX), size_t(PrevX + 1), size_t(PrevY), size_t(PrevY)});
    X = PrevX;
    Y = PrevY;
  }
  std::vector<Change> Changes;
  for (auto It = Backwards.rbegin(); It != Backwards.rend(); ++It)
    addChange(Changes, *It);
  return Changes;
}

/// The changes between the texts, in order, common ends stripped first.
std::vector<Change> diffLines(const Lines &Old, const Lines &New) {
  size_t Prefix = 0;
  while (Prefix < Old.size() && Prefix < New.size() &&
         Old[Prefix] == New[Prefix])
    ++Prefix;
  size_t Suffix = 0;
  while (Suffix < Old.size() - Prefix && Suffix < New.size() - Prefix &&
         Old[Old.size() - 1 - Suffix] == New[New.size() - 1 - Suffix])
    ++Suffix;
  Lines OldMiddle(Old.begin() + Prefix, Old.end() - Suffix);
  Lines NewMiddle(New.begin() + Prefix, New.end() - Suffix);
  if (OldMiddle.empty() && NewMiddle.empty())
    return {};
  std::vector<Change> Changes = shortestScript(OldMiddle, NewMiddle);
  for (Change &C : Changes) {
    C.OldBegin += Prefix;
    C.OldEnd += Prefix;
    C.NewBegin += Prefix;
    C.NewEnd += Prefix;
  }
  return Changes;
}

void printLine(llvm::raw_ostream &OS, char Mark, StringRef Line) {
  OS << Mark << Line;
  if (!Line.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

/// `3,7`; `3` for one line; an empty range names the line before it.
void printRange(llvm::raw_ostream &OS, size_t Begin, size_t End) {
  size_t Count = End - Begin;
  OS << (Count == 0 ? Begin : Begin + 1);
  if (Count != 1)
    OS << ',' << Count;
}

} // namespace

std::string unifiedDiff(StringRef Old, StringRef New, StringRef OldName,
                        StringRef NewName, unsigned Context) {
  if (Old == New)
    return {};
  const Lines OldLines = splitLines(Old), NewLines = splitLines(New);
  const std::vector<Change> Changes = diffLines(OldLines, NewLines);

  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "--- " << OldName << "\n+++ " << NewName << '\n';
  for (size_t First = 0; First < Changes.size();) {
    // A hunk goes on while less than two contexts separate the changes.
    size_t Last = First;
    while (Last + 1 < Changes.size() &&
           Changes[Last + 1].OldBegin - Changes[Last].OldEnd <= 2 * Context)
      ++Last;
    size_t Before = std::min<size_t>(Context, Changes[First].OldBegin);
    size_t After =
        std::min<size_t>(Context, OldLines.size() - Changes[Last].OldEnd);
    OS << "@@ -";
    printRange(OS, Changes[First].OldBegin - Before,
               Changes[Last].OldEnd + After);
    OS << " +";
    printRange(OS, Changes[First].NewBegin - Before,
               Changes[Last].NewEnd + After);
    OS << " @@\n";
    size_t Next = Changes[First].OldBegin - Before;
    for (size_t I = First; I <= Last; ++I) {
      const Change &C = Changes[I];
      for (; Next < C.OldBegin; ++Next)
        printLine(OS, ' ', OldLines[Next]);
      for (size_t L = C.OldBegin; L < C.OldEnd; ++L)
        printLine(OS, '-', OldLines[L]);
      for (size_t L = C.NewBegin; L < C.NewEnd; ++L)
        printLine(OS, '+', NewLines[L]);
      Next = C.OldEnd;
    }
    for (; Next < Changes[Last].OldEnd + After; ++Next)
      printLine(OS, ' ', OldLines[Next]);
    First = Last + 1;
  }
  return Text;
}

} // namespace rcache
