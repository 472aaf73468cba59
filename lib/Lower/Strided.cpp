// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements that the owner of an element runs under another thread's number
// (StridedRun): a function of that number and of the elements, called for each
// register that any lane has such an element in. See Fill.h.
//
//     for (slots) {
//       const auto rc_run = [&](unsigned rc_thread_x, float &rc_s_mine,
//                               float &rc_s_theirs) { ... };
//       for (int rc_e = rc_s; rc_e < 16; rc_e += 8)
//         if (strided_in(rc_e, 2 * d, d - 1)) {
//           float rc_s_from = flipped_element(rc_s_own, rc_e, d);
//           const int rc_t = strided_thread(rc_lane, rc_e, 2 * d, d - 1);
//           if (rc_t >= 0)
//             rc_run(rc_t, rc_s_own[rc_e], rc_s_from);
//         }
//     }
//
// Where a lane has neighbours (chunks), the functions are those `_in_chunks<C>`.

#include "Affine/IslTools.h"
#include "Fill.h"

using namespace rcache;

namespace {


/// Elements of a warp's registers, and how the text names them.
struct Layout {
  int64_t Chunk = 1; ///< neighbours in a lane; 1: elements are 32 apart
  bool OnePart = false; ///< as many elements as threads
  std::optional<int64_t> Bit; ///< by which those of a pair differ, if always the same

  static Layout of(const Plan &P, const StridedRun &R) {
    const bool Chunks = P.Map.Stride[0] == 1 && P.slots() > 1;
    return {Chunks ? int64_t(P.slots()) : 1, R.Elements == 32 * int64_t(P.slots()),
            R.Away.is_null() ? std::nullopt : isConstant(R.Away)};
  }
  bool isChunked() const { return Chunk > 1; }
  /// A device function of this layout, without the arguments.
  std::string function(llvm::StringRef Name) const {
    if (!isChunked())
      return Name.str();
    Name.consume_back("_in");
    return (Name + "_in_chunks").str();
  }
  std::string call(const std::string &Name) const {
    return "::rcache::device::" + function(Name) +
           (isChunked() ? "<" + str(Chunk) + ">(" : "(");
  }
  /// Has a lane both of two elements that differ by bit \p By?
  Code inOneLane(const Code &By) const {
    if (!isChunked())
      return By + " >= 32";
    if (Bit)
      return *Bit < Chunk || *Bit >= 32 * Chunk ? "true" : "false";
    return "(" + By + ") < " + str(Chunk) +
           (OnePart ? "" : " || (" + By + ") >= " + str(32 * Chunk));
  }
  /// That bit of a register's number, of a lane's.
  Code bitOfRegister(const Code &By) const {
    if (!isChunked())
      return "(" + By + ") / 32";
    if (Bit)
      return str(*Bit < Chunk ? *Bit : *Bit / 32);
    if (OnePart)
      return "(" + By + ")";
    return "((" + By + ") < " + str(Chunk) + " ? " + By + " : (" + By + ") / 32)";
  }
  Code bitOfLane(const Code &By) const {
    if (Bit && isChunked())
      return str(*Bit / Chunk);
    return isChunked() ? "(" + By + ") / " + str(Chunk) : By;
  }
};

} // namespace

Fill::RunArguments Fill::runArguments(const PairedInterval &Pair,
                                      const Code &By) {
  const StridedRun &R = *Pair.Strided;
  const Layout Lay = Layout::of(P, R);
  const std::string E = N("e");
  RunArguments Of;
  const auto Copied = [&] {
    if (!Lay.isChunked())
      return ownedHelper(R.Flips ? Owned::Fetch::Flipped : Owned::Fetch::Ahead) + "(";
    const char *Name = R.Flips ? "flipped" : "ahead";
    Helpers.insert(Lay.function(Name));
    return Lay.call(Name);
  };
  for (unsigned A = 0; A < M.Arrays.size(); ++A) {
    const SharedArray &Arr = M.Arrays[A];
    const std::string Mine = N(Arr.Name + "_mine"),
                      Theirs = N(Arr.Name + "_theirs"),
                      From = N(Arr.Name + "_from"), Registers = ownedName(Arr);
    bool UsesMine = false, UsesTheirs = false, Reads = false;
    for (const auto &[Access, Other] : P.owned(A)->OfRuns) {
      if (!Pair.Statements.contains(M.SharedAccesses[Access].Range))
        continue;
      PairNames[Access] = Other ? Theirs : Mine;
      (Other ? UsesTheirs : UsesMine) = true;
      Reads |= M.SharedAccesses[Access].K != SharedAccess::Write;
    }
    if (!UsesMine && !UsesTheirs)
      continue;
    const Code Register = Registers + "[" + E + "]";
    Of.Parameters += ", " + Arr.ElemType + " &" + Mine;
    Of.Own += ", " + Register;
    Of.Inside += ", " + Register;
    if (R.Both || UsesTheirs) {
      Of.Parameters += ", " + Arr.ElemType + " &" + Theirs;
      // What is only set is lost with the copy: its owner sets it as well.
      Of.Copies += Arr.ElemType + " " + From +
                   (Reads ? " = " + Copied() + Registers + ", " + E + ", " + By + ");\n"
                          : Code(" = {};\n"));
      Of.Own += ", " + From;
      Of.Other += ", " + From + ", " + Register;
      Of.Inside += ", " + Registers + "[(" + E + " ^ " + Lay.bitOfRegister(By) + ") % " +
                   str(R.Elements / 32) + "]";
    }
  }
  return Of;
}

llvm::Expected<std::optional<SlotLoop::PairRuns>>
Fill::stridedRuns(const PairedInterval &Pair) {
  const StridedRun &R = *Pair.Strided;
  const bool Pairs = !R.Away.is_null();
  auto Step = affineText(R.Step, N, ownedOptions());
  if (!Step)
    return Step.takeError();
  auto First = affineText(R.First, N, ownedOptions());
  if (!First)
    return First.takeError();
  Code By = "0";
  if (Pairs) {
    auto Of = affineText(R.Away, N, ownedOptions());
    if (!Of)
      return Of.takeError();
    By = std::move(*Of);
  }
  const std::string E = N("e"), T = N("t"), Run = N("run");
  const Layout Lay = Layout::of(P, R);
  const Code Bit = Lay.bitOfRegister(By);
  RunArguments Of = runArguments(Pair, By);
  const bool Steps = R.K == StridedRun::Steps;
  const std::string Kind = Steps ? "strided" : "inserted";
  Helpers.insert({Lay.function(Kind + "_thread"), Lay.function(Kind + "_in")});
  const Code Which = ", " + *Step + ", " + *First + ")";
  const std::string Lane = N("lane_of_warp");
  // Whether a lane runs anything is asked once for both elements of a pair:
  // what is left of each side is short enough for selections.
  auto Runs = [&](const Code &Of, const Code &Then) {
    return "{\nconst int " + T + " = " + Lay.call(Kind + "_thread") + Of + ", " + E +
           Which + ";\nif (" + T + " >= 0 && " + T + " < " +
           str((*P.Map.Block)[0]) + ")" + Then + "}\n";
  };
  auto Call = [&](const Code &With) {
    return "\n" + Run + "(static_cast<unsigned int>(" + T + ")" + With + ");\n";
  };
  const Code In = Code(Lay.call(Kind + "_in"));
  Code Body = "const int " + Lane + " = static_cast<int>(threadIdx.x) & 31;\n";
  if (!R.Both)
    Body += "if (" + In + E + Which + ") {\n" + Of.Copies +
            Runs(Lane, Call(Of.Own)) + "}\n";
  else {
    const Code Here = "if ((" + E + " & " + Bit + ") == 0 && " + In + E + Which + ")\n" +
                      Runs(Lane, Call(Of.Inside)),
               There = "if (" + In + E + Which + ") {\n" + Of.Copies +
                       Runs(Lane + " & ~(" + Lay.bitOfLane(By) + ")",
                            " {\nif ((" + Lane + " & (" + Lay.bitOfLane(By) + ")) == 0)" +
                                Call(Of.Own) + "else" + Call(Of.Other) + "}\n") +
                       "}\n";
    const Code OneLane = Lay.inOneLane(By);
    Body += OneLane == "true"    ? Here
            : OneLane == "false" ? There
                                 : "if (" + OneLane + ") {\n" + Here + "} else " + There;
  }
  SlotLoop::PairRuns Out;
  Out.Parameters = std::move(Of.Parameters);
  Out.Runs = "#pragma unroll\nfor (int " + E + " = " + N("s") + "; " + E +
             " < " + str(R.Elements / 32) + "; " + E + " += " + str(P.slots()) +
             ") {\n" + Body + "}\n";
  return Out;
}
