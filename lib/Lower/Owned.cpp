// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays whose elements belong to the threads of one warp: registers in place
// of the array, and copies of what slots use of others. Every copy is made, and
// given back, at the level of the barriers, under no condition that differs
// inside a warp: all 32 lanes take part. See Fill.h.
//
//     float rc_s_from[4];                               // copies, in front
//     for (slots) rc_s_from[s] = flipped_element(rc_s_own, s, j);
//     for (slots) { ... rc_s_own[s] ... rc_s_from[s] ... }   // the statements
//     for (slots) rc_s_own[s] = rewritten(...);         // and back, if changed
//
// What pairs of threads run alike is a function, called for a pair within a lane
// once, else by both lanes, in different branches: so a compiler knows which of
// the two elements is whose (with one call, of elements that had been selected by
// then, a sort took twice as long on an H200).
//
//     for (slots) {
//       const auto rc_run = [&](unsigned rc_thread_x, float &rc_s_mine,
//                               float &rc_s_theirs) { ... };
//       if (j < slots) {
//         if ((s & j) == 0) rc_run(.., rc_s_own[s], rc_s_own[s ^ j]);
//       } else {
//         float rc_s_from = flipped_element(rc_s_own, s, j);
//         if ((thread & j) == 0) rc_run(.., rc_s_own[s], rc_s_from);
//         else rc_run(.., rc_s_from, rc_s_own[s]);
//       }
//     }

#include "Affine/IslTools.h"
#include "Fill.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

std::string Fill::ownedName(const SharedArray &Of) const {
  return N(Of.Name + "_own");
}

ValueTextOptions Fill::ownedOptions() const {
  ValueTextOptions O;
  O.Symbols = N.symbols();
  O.Symbols["sx"] = CxxAtom(N("s"), true, "int");
  return O;
}

llvm::Expected<Code> Fill::ownedElement(unsigned Access) const {
  if (const auto It = PairNames.find(Access); It != PairNames.end())
    return Code(It->second);
  if (const auto It = CopyNames.find(Access); It != CopyNames.end())
    return It->second + Code::slot();
  const SharedAccess &S = M.SharedAccesses[Access];
  const SharedArray &Arr = M.Arrays[S.Array];
  const auto Part = P.owned(S.Array)->PartOf.find(Access);
  if (Part == P.owned(S.Array)->PartOf.end())
    return llvm::createStringError("a copy of an element of '" + Arr.Name +
                                   "' is not where it is used");
  if (isConstant(Part->second) == 0)
    return ownedName(Arr) + Code::slot();
  const isl::pw_aff First = Part->second.scale(static_cast<long>(P.slots()));
  auto Register = affineText(
      P.slots() > 1 ? First.add(symbolValue(First.ctx(), "sx")) : First, N,
      ownedOptions());
  if (!Register)
    return Register;
  return ownedName(Arr) + "[" + *Register + "]";
}

Code Fill::ownedRegisters(unsigned Array) const {
  const Owned *Of = P.owned(Array);
  if (!Of)
    return "";
  const SharedArray &Arr = M.Arrays[Array];
  return Arr.ElemType + " " + ownedName(Arr) + "[" +
         str(int64_t(Of->Parts) * P.slots()) + "] = {};\n";
}

Code Fill::ownedFromOutside() const {
  Code All;
  for (unsigned A = 0; A < M.Arrays.size(); ++A)
    if (M.Arrays[A].AtFileScope)
      All += ownedRegisters(A);
  return All;
}

/// The device function for copies of kind \p K.
std::string Fill::ownedHelper(Owned::Fetch::Kind K) {
  const bool Cyclic = P.Map.Stride[0] == 32 || P.slots() == 1;
  const char *Helper = "";
  switch (K) {
  case Owned::Fetch::Ahead:
    Helper = Cyclic ? "elements_ahead" : "neighbours_ahead";
    break;
  case Owned::Fetch::At:
    Helper = Cyclic ? "element_of_all" : "neighbour_of_all";
    break;
  case Owned::Fetch::Flipped:
    Helper = Cyclic ? "flipped_element" : "flipped_neighbour";
    break;
  case Owned::Fetch::Gathered:
    Helper = "gathered_element";
    break;
  case Owned::Fetch::Inserted:
    Helper = "inserted_element";
    break;
  }
  Helpers.insert(Helper);
  return std::string("::rcache::device::") + Helper;
}

llvm::Expected<Code> Fill::fetch(const SharedArray &Of, const Owned::Fetch &F,
                                 const std::string &Into) {
  const std::string S = N("s"), Own = ownedName(Of);
  auto By = F.K == Owned::Fetch::Gathered ? gatheredText(F)
                                          : affineText(F.By, N, ownedOptions());
  if (!By)
    return By.takeError();
  auto If = conditionText(F.Slots, N, ownedOptions());
  if (!If)
    return If.takeError();
  const std::string Helper = ownedHelper(F.K);
  const Code All = "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " +
                   str(P.slots()) + "; ++" + S + ")\n";
  Code T = Of.ElemType + " " + Into + "[" + str(P.slots()) + "];\n";
  if (F.K == Owned::Fetch::At)
    return T + "{\nconst " + Of.ElemType + " " + N("of_all") + " = " + Helper +
           "(" + Own + ", " + *By + ");\n" + All + Into + "[" + S +
           "] = " + N("of_all") + ";\n}\n";
  if (F.All)
    return T;
  const bool Inserts = F.K == Owned::Fetch::Inserted;
  if (F.Written && Inserts) // what elements were is asked when they come back
    T += Of.ElemType + " " + Into + "_was[" + registersOf(Of) + "];\n" +
         "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " + registersOf(Of) +
         "; ++" + S + ")\n" + Into + "_was[" + S + "] = " + Own + "[" + S + "];\n";
  else if (F.Written)
    T += Of.ElemType + " " + Into + "_was[" + str(P.slots()) + "];\n" + All +
         Into + "_was[" + S + "] = " + Own + "[" + S + "];\n";
  return T + All + (*If == "true" ? "" : "if (" + *If + ")\n") + Into + "[" +
         S + "] = " + Helper + "(" + Own + ", " +
         (F.K == Owned::Fetch::Gathered ? "" : S + ", ") + *By +
         (Inserts ? (F.Upper ? ", true" : ", false") : "") + ");\n";
}

std::string Fill::registersOf(const SharedArray &Of) const {
  return str(int64_t(P.owned(static_cast<unsigned>(&Of - M.Arrays.data()))->Parts) * P.slots());
}

/// The element of a slot's thread, and those of its first and its last lane's.
llvm::Expected<Code> Fill::gatheredText(const Owned::Fetch &F) const {
  const isl::ctx Ctx = F.By.ctx();
  const isl::pw_aff Front = symbolValue(Ctx, "sx").scale(32L);
  Code All;
  for (const isl::pw_aff &Thread :
       {P.Map.threadOfSlot(Ctx, 0), Front, Front.add(constantValue(Ctx, 31))}) {
    auto T = affineText(substitute(F.By, {{"tx", Thread}}), N, ownedOptions());
    if (!T)
      return T;
    All += (All.empty() ? "" : ", ") + *T;
  }
  return All;
}

llvm::Expected<Code> Fill::giveBack(const SharedArray &Of,
                                    const Owned::Fetch &F,
                                    const std::string &From) {
  const std::string S = N("s"), Own = ownedName(Of);
  if (F.K == Owned::Fetch::Inserted) {
    auto Bit = affineText(F.By, N, ownedOptions());
    if (!Bit)
      return Bit;
    const std::string Helper = F.All ? "take_inserted" : "take_inserted_if_rewritten";
    Helpers.insert(Helper);
    return "::rcache::device::" + Code(Helper) + "<" + (F.Upper ? "true" : "false") +
           ">(" + Own + ", " + (F.All ? "" : From + "_was, ") + From + ", " + *Bit + ");\n";
  }
  // The copy of the slot's element is by the thread as far away to the other
  // side; t ^ j ^ j is t. (Where no thread is there, nothing comes.)
  const bool Flips = F.K == Owned::Fetch::Flipped;
  auto By =
      affineText(Flips ? isl::pw_aff(F.By) : F.By.neg(), N, ownedOptions());
  if (!By)
    return By;
  Code If = "true";
  if (!Flips) {
    const isl::ctx Ctx = F.By.ctx();
    auto Inside = conditionText(inRange(P.Map.threadOfSlot(Ctx, 0).sub(F.By),
                                        constantValue(Ctx, 0),
                                        constantValue(Ctx, (*P.Map.Block)[0])),
                                N, ownedOptions());
    if (!Inside)
      return Inside;
    If = std::move(*Inside);
  }
  Helpers.insert("rewritten");
  const Code To = Own + "[" + S + "]";
  return "#pragma unroll\nfor (int " + S + " = 0; " + S + " < " +
         str(P.slots()) + "; ++" + S + ") {\nconst " + Of.ElemType + " " +
         N("back") + " = " + ownedHelper(F.K) + "(" + From + ", " + S + ", " +
         *By + ");\n" + (If == "true" ? "" : "if (" + If + ")\n") + To +
         " = ::rcache::device::rewritten(" + To + ", " + From + "_was[" + S +
         "], " + N("back") + ");\n}\n";
}

llvm::Expected<Code> Fill::fetched(llvm::ArrayRef<TextRange> Ranges) {
  Code Out;
  for (const ArrayPlan &A : P.Arrays) {
    const auto *Of = A.as<Owned>();
    if (!Of)
      continue;
    const SharedArray &Arr = M.Arrays[A.Array];
    for (const Owned::Fetch &F : Of->Fetches) {
      if (P.paired(M.SharedAccesses[F.Accesses.front()].Range))
        continue;
      std::string Into;
      for (unsigned Access : F.Accesses) {
        if (llvm::none_of(Ranges, [&](TextRange In) {
              return In.contains(M.SharedAccesses[Access].Range);
            }))
          continue;
        // Told apart by number, in the order of the text.
        if (Into.empty())
          Into = N(Arr.Name + "_from" +
                   (Of->Fetches.size() > 1 || F.Accesses.size() > 1
                        ? str(int64_t(CopyNames.size()))
                        : ""));
        CopyNames[Access] = Into;
      }
      if (Into.empty())
        continue;
      auto T = fetch(Arr, F, Into);
      if (!T)
        return T;
      Out += *T;
    }
  }
  return Out;
}

llvm::Expected<Code> Fill::returned(llvm::ArrayRef<TextRange> Ranges) {
  Code Out;
  for (const ArrayPlan &A : P.Arrays) {
    const auto *Of = A.as<Owned>();
    if (!Of)
      continue;
    for (const Owned::Fetch &F : Of->Fetches) {
      const auto Access = llvm::find_if(F.Accesses, [&](unsigned Access) {
        return llvm::any_of(Ranges, [&](TextRange In) {
          return In.contains(M.SharedAccesses[Access].Range);
        });
      });
      if (!F.Written || Access == F.Accesses.end() ||
          P.paired(M.SharedAccesses[*Access].Range))
        continue;
      auto T = giveBack(M.Arrays[A.Array], F, CopyNames[*Access]);
      if (!T)
        return T;
      Out += *T;
    }
  }
  return Out;
}

llvm::Expected<std::optional<SlotLoop::PairRuns>>
Fill::pairRuns(TextRange Statements) {
  const PairedInterval *Pair = P.paired(Statements);
  if (!Pair)
    return std::nullopt;
  if (Pair->Strided)
    return stridedRuns(*Pair);
  auto By = affineText(Pair->Bit, N, ownedOptions());
  if (!By)
    return By.takeError();
  const bool Cyclic = P.Map.Stride[0] == 32 || P.slots() == 1;
  const std::string S = N("s"), Slots = str(P.slots());
  const Code Bit = *By,
             Lanes = Cyclic ? Bit + " / 32" : Bit; // slots apart
  SlotLoop::PairRuns Out;
  Code Own, Inside, Copies, Other; // arguments, declarations
  for (unsigned A = 0; A < M.Arrays.size(); ++A) {
    const SharedArray &Arr = M.Arrays[A];
    const std::string Mine = N(Arr.Name + "_mine"),
                      Theirs = N(Arr.Name + "_theirs"), From = N(Arr.Name + "_from"),
                      Registers = ownedName(Arr);
    bool Used = false;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &X = M.SharedAccesses[I];
      if (X.Array != A || !Pair->Statements.contains(X.Range))
        continue;
      PairNames[I] = P.owned(A)->fetchOf(I) ? Theirs : Mine;
      Used = true;
    }
    if (!Used)
      continue;
    Out.Parameters +=
        ", " + Arr.ElemType + " &" + Mine + ", " + Arr.ElemType + " &" + Theirs;
    const Code Register = Registers + "[" + S + "]";
    Inside += ", " + Register + ", " + Registers + "[(" + S + " ^ " + Lanes +
              ") % " + Slots + "]";
    Copies += Arr.ElemType + " " + From + " = " +
              ownedHelper(Owned::Fetch::Flipped) + "(" + Registers + ", " + S +
              ", " + *By + ");\n";
    Own += ", " + Register + ", " + From;
    Other += ", " + From + ", " + Register;
  }
  const std::string Run = N("run");
  const Code Thread = N("tx") + " + " + S + (Cyclic ? " * 32" : ""),
             Is = Pair->Upper ? ") != 0" : ") == 0";
  if (Pair->Met.empty()) { // in numbers with a sign and without
    const std::string T = N("thread_x"), Than = Pair->Upper ? " < " : " > ";
    const Code Partner = "(" + Code(T) + " ^ " + Bit + ")";
    Out.Known = "__builtin_assume(static_cast<int>" + Partner + Than +
                "static_cast<int>(" + T + "));\n__builtin_assume(" + Partner +
                Than + T + ");\n";
  }
  Out.Runs = "if (" + Bit + (Cyclic ? " >= 32" : " < " + Slots) + ") {\nif ((" +
             S + " & " + Lanes + Is + ")\n" + Run + "(" + Thread + Inside +
             ");\n} else {\n" + Copies + "if (((" + Thread + ") & " + Bit + Is +
             ")\n" + Run + "(" + Thread + Own + ");\nelse\n" + Run + "((" +
             Thread + ") ^ " + Bit + Other + ");\n}\n";
  return Out;
}
