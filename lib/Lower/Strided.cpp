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

#include "Affine/IslTools.h"
#include "Fill.h"

using namespace rcache;

namespace {
std::string str(int64_t V) { return std::to_string(V); }
} // namespace

Fill::RunArguments Fill::runArguments(const PairedInterval &Pair,
                                      const Code &By) {
  const StridedRun &R = *Pair.Strided;
  const std::string E = N("e");
  RunArguments Of;
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
                   (Reads ? " = " +
                                ownedHelper(R.Flips ? Owned::Fetch::Flipped
                                                    : Owned::Fetch::Ahead) +
                                "(" + Registers + ", " + E + ", " + By + ");\n"
                          : Code(" = {};\n"));
      Of.Own += ", " + From;
      Of.Other += ", " + From + ", " + Register;
      Of.Inside += ", " + Registers + "[(" + E + " ^ (" + By + ") / 32) % " +
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
  const Code Bit = "(" + By + ") / 32";
  RunArguments Of = runArguments(Pair, By);
  const bool Steps = R.K == StridedRun::Steps;
  const std::string Namespace = "::rcache::device::";
  const std::string Kind = Steps ? "strided" : "inserted";
  Helpers.insert({Kind + "_thread", Kind + "_in"});
  const Code Which = ", " + *Step + ", " + *First + ")";
  const std::string Lane = N("lane_of_warp");
  // Whether a lane runs anything is asked once for both elements of a pair:
  // what is left of each side is short enough for selections.
  auto Runs = [&](const Code &Of, const Code &Then) {
    return "{\nconst int " + T + " = " + Namespace + Kind + "_thread(" + Of +
           ", " + E + Which + ";\nif (" + T + " >= 0 && " + T + " < " +
           str((*P.Map.Block)[0]) + ")" + Then + "}\n";
  };
  auto Call = [&](const Code &With) {
    return "\n" + Run + "(static_cast<unsigned int>(" + T + ")" + With + ");\n";
  };
  const Code In = Code(Namespace + Kind + "_in(");
  Code Body = "const int " + Lane + " = static_cast<int>(threadIdx.x) & 31;\n";
  if (!R.Both)
    Body += "if (" + In + E + Which + ") {\n" + Of.Copies +
            Runs(Lane, Call(Of.Own)) + "}\n";
  else
    Body += "if (" + By + " >= 32) {\nif ((" + E + " & " + Bit + ") == 0 && " +
            In + E + Which + ")\n" + Runs(Lane, Call(Of.Inside)) +
            "} else if (" + In + E + Which + ") {\n" + Of.Copies +
            Runs(Lane + " & ~(" + By + ")",
                 " {\nif ((" + Lane + " & (" + By + ")) == 0)" + Call(Of.Own) +
                     "else" + Call(Of.Other) + "}\n") +
            "}\n";
  SlotLoop::PairRuns Out;
  Out.Parameters = std::move(Of.Parameters);
  Out.Runs = "#pragma unroll\nfor (int " + E + " = " + N("s") + "; " + E +
             " < " + str(R.Elements / 32) + "; " + E + " += " + str(P.slots()) +
             ") {\n" + Body + "}\n";
  return Out;
}
