// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the JSON report. A new field may be added at any time; a change of
// meaning or a removal raises SchemaVersion (see docs/report.md).

#include "Output/ReportJson.h"
#include "Output/Explain.h"
#include "Output/ReportChoice.h"
#include "rcache/Config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace rcache {
namespace {

constexpr int SchemaVersion = 1;

void writePos(json::OStream &J, const SourcePos &Pos) {
  J.attribute("file", json::fixUTF8(Pos.File));
  J.attribute("line", Pos.Line);
  J.attribute("column", Pos.Column);
}

void writeStrings(json::OStream &J, llvm::StringRef Name,
                  const std::vector<std::string> &Items) {
  J.attributeArray(Name, [&] {
    for (const std::string &Item : Items)
      J.value(json::fixUTF8(Item));
  });
}

void writeDecline(json::OStream &J, const Decline &D) {
  const DeclineInfo &Info = declineInfo(D.Code);
  J.object([&] {
    J.attribute("code", Info.Code);
    if (Info.Group)
      J.attribute("group", Info.Group);
    if (Info.Text)
      J.attribute("text", Info.Text);
    J.attribute("detail", json::fixUTF8(D.Detail));
    if (const std::string Advice = adviceOf(D); !Advice.empty())
      J.attribute("advice", json::fixUTF8(Advice));
    writePos(J, D.Pos);
  });
}

void writeCounts(json::OStream &J, const PlanCounts &C) {
  J.attributeObject("perOutput", [&] {
    J.attribute("globalLoads", C.GlobalLoads);
    J.attribute("originalGlobalLoads", C.OriginalGlobalLoads);
    J.attribute("loadInstructions", C.LoadInstructions);
    J.attribute("originalLoadInstructions", C.OriginalLoadInstructions);
    J.attribute("shuffles", C.Shuffles);
    J.attribute("selects", C.Selects);
    J.attribute("sharedReads", C.SharedReads);
    J.attribute("originalSharedReads", C.OriginalSharedReads);
    J.attribute("sharedWrites", C.SharedWrites);
    J.attribute("barriers", C.Barriers);
    J.attribute("originalBarriers", C.OriginalBarriers);
    J.attribute("stores", C.Stores);
    J.attribute("storeInstructions", C.StoreInstructions);
    J.attribute("arithmetic", C.Arithmetic);
  });
}

void writeAccesses(json::OStream &J, llvm::StringRef Name,
                   const std::vector<PictureAccess> &Accesses) {
  J.attributeArray(Name, [&] {
    for (const PictureAccess &A : Accesses)
      J.object([&] {
        J.attribute("text", json::fixUTF8(A.Text));
        writePos(J, A.Pos);
      });
  });
}

/// Stores to global memory: what was one for each output, and how wide it is now.
void writeStores(json::OStream &J, const KernelModel &M, const Plan &P) {
  J.attributeArray("stores", [&] {
    for (size_t I = 0; I < M.GlobalAccesses.size(); ++I) {
      const GlobalAccess &A = M.GlobalAccesses[I];
      if (A.K != GlobalAccess::Write)
        continue;
      unsigned Bytes = A.ElemBytes;
      for (const Plan::VectorStore &V : P.VectorStores)
        if (V.holds(static_cast<unsigned>(I)))
          Bytes = V.Bytes;
      J.object([&] {
        J.attribute("text", json::fixUTF8(M.text(A.Range)));
        writePos(J, A.Pos);
        J.attribute("elementBytes", A.ElemBytes);
        J.attribute("bytes", Bytes);
      });
    }
  });
}

void writeBarriers(json::OStream &J, const KernelModel &M, const Plan &P) {
  J.attributeArray("barriers", [&] {
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier)
        J.object([&] {
          writePos(J, S.Pos);
          const SyncScope Scope = P.scopeOf(S.Id);
          J.attribute("becomes", Scope == SyncScope::Block  ? "kept"
                                 : Scope == SyncScope::Warp ? "warp"
                                                            : "removed");
        });
  });
  if (P.KeepBarriers && !P.BarrierReason.empty())
    J.attribute("barrierReason", json::fixUTF8(P.BarrierReason));
}

/// The registers of a warp that owns an array, and what goes from one to another.
void writeOwned(json::OStream &J, const ArrayPicture &P) {
  J.attributeArray("held", [&] {
    for (const std::vector<int64_t> &Lane : P.Held)
      J.array([&] {
        for (const int64_t E : Lane)
          J.value(E);
      });
  });
  static const char *const Kinds[] = {"ahead", "flipped", "of-all"};
  J.attributeArray("steps", [&] {
    for (const PictureStep &S : P.Steps)
      J.object([&] {
        J.attribute("text", json::fixUTF8(S.Access.Text));
        writePos(J, S.Access.Pos);
        J.attribute("rounds", json::fixUTF8(S.Rounds));
        J.attribute("words", S.Words);
        J.attribute("kind", Kinds[S.Kind]);
        J.attribute("by", S.By);
        J.attribute("back", S.Back);
        J.attributeArray("moves", [&] {
          for (const PictureStep::Move &M : S.Moves)
            J.object([&] {
              J.attribute("register", M.Register);
              J.attribute("laneDistance", M.Lanes);
              J.attribute("fromRegister", M.FromRegister);
            });
        });
      });
  });
}

void writePicture(json::OStream &J, const ArrayPicture &P) {
  J.object([&] {
    J.attribute("array", json::fixUTF8(P.Array));
    J.attribute("exchange", P.Exchange);
    J.attribute("detail", P.Detail);
    J.attribute("words", P.Words);
    if (!P.Held.empty())
      writeOwned(J, P);
    if (!P.Layout.empty())
      J.attributeArray("layout", [&] {
        for (const PictureDimension &D : P.Layout)
          J.object([&] {
            J.attribute("of", D.Of);
            J.attribute("size", D.Size);
            if (D.Padding)
              J.attribute("padding", D.Padding);
          });
      });
    J.attributeArray("staging", [&] {
      for (const PictureStage &S : P.Staging)
        J.object([&] {
          J.attribute("where", json::fixUTF8(S.Where));
          J.attribute("value", json::fixUTF8(S.Value));
        });
    });
    J.attribute("coverageProved", P.CoverageProved);
    if (!P.Interior.empty()) {
      J.attribute("interior", json::fixUTF8(P.Interior));
      J.attribute("vectorBytes", P.VectorBytes);
    }
    writeAccesses(J, "writes", P.Writes);
    writeAccesses(J, "reads", P.Reads);
    J.attribute("lanes", P.Lanes);
    writePoint(J, "laneStep", P.LaneStep);
    writePoint(J, "extent", P.Extent);
    J.attributeArray("window", [&] {
      for (const PictureCell &C : P.Window)
        J.object([&] {
          writePoint(J, "register", C.Register);
          writePoint(J, "element", C.Element);
          J.attribute("from", C.Source == PictureCell::Own      ? "own"
                              : C.Source == PictureCell::Reload ? "reload"
                                                                : "shuffle");
          J.attribute("laneDistance", C.Distance);
          J.attribute("fromRegister", C.FromRegister);
        });
    });
  });
}

void writePlan(json::OStream &J, const KernelResult &K, const Plan &P) {
  const KernelModel *M = K.Model.get();
  J.attributeObject("plan", [&] {
    J.attributeArray("coarsening", [&] {
      for (unsigned F : P.Map.Factor)
        J.value(F);
    });
    J.attributeArray("slotStride", [&] {
      for (int64_t S : P.Map.Stride)
        J.value(S);
    });
    if (P.Map.joins()) {
      J.attributeArray("joinedBlocks", [&] {
        for (unsigned B : P.Map.Blocks)
          J.value(B);
      });
      J.attributeArray("joinedGroup", [&] {
        for (unsigned G : P.Map.Group)
          J.value(G);
      });
    }
    if (P.Map.Block)
      J.attributeArray("block", [&] {
        for (int64_t B : *P.Map.Block)
          J.value(B);
      });
    J.attribute("targetThreads", P.Map.TargetThreads);
    J.attribute("keepsBarriers", P.KeepBarriers);
    J.attribute("warpBarriers",
                llvm::count_if(P.Narrowed, [](auto &B) { return B.second == SyncScope::Warp; }));
    J.attribute("firstWarpLoops", static_cast<int64_t>(P.OfFirstWarp.size()));
    J.attributeArray("preconditions", [&] {
      for (const Precondition &C : P.Preconditions)
        J.object([&] {
          J.attribute("condition", json::fixUTF8(C.Text));
          J.attribute("reason", json::fixUTF8(C.Reason));
        });
    });
    writeStrings(J, "conditions", K.Conditions);
    if (M) {
      writeStores(J, *M, P);
      writeBarriers(J, *M, P);
    }
    writeCounts(J, P.Counts);
    J.attribute("registers", P.saidRegisters());
    if (P.PredictedSpeedup > 0)
      J.attribute(P.SpeedupFrom == Plan::Measured ? "measuredSpeedup"
                                                  : "predictedSpeedup",
                  P.saidSpeedup());
    if (P.SpeedupOfGrid > 0) {
      J.attribute("predictedBlocks", P.GridBlocks);
      J.attribute("predictedSpeedupOfLargeGrids", P.SpeedupOfMany);
    }
    writeByBlocks(J, P);
    J.attribute("speedupFrom", P.SpeedupFrom == Plan::Measured   ? "device"
                               : P.SpeedupFrom == Plan::Compiled ? "ptxas"
                                                                 : "estimate");
  });
}

/// How the new kernel is launched, for callers that are edited by hand.
void writeContract(json::OStream &J, const KernelResult &K) {
  if (K.LaunchFunction.empty())
    return;
  J.attributeObject("contract", [&] {
    J.attribute("kernel", json::fixUTF8(K.Model->scope() + K.KernelName));
    J.attribute("function", json::fixUTF8(K.LaunchFunction));
    J.attribute("launch", json::fixUTF8(K.LaunchText));
  });
}

void writeStatements(json::OStream &J, llvm::StringRef Name,
                     const std::vector<Statement> &Statements) {
  J.attributeArray(Name, [&] {
    for (const Statement &S : Statements)
      J.object([&] {
        J.attribute("result", S.Result);
        J.attribute("text", json::fixUTF8(S.Text));
      });
  });
}

void writeSpans(json::OStream &J, llvm::StringRef Name,
                const std::vector<LineSpan> &Spans) {
  J.attributeArray(Name, [&] {
    for (const LineSpan &S : Spans)
      J.array([&] {
        J.value(S.Line);
        J.value(S.Column);
        J.value(S.Length);
      });
  });
}

void writeLinks(json::OStream &J, const KernelLinks &L) {
  auto Lines = [&](llvm::StringRef Name, const std::pair<unsigned, unsigned> &R) {
    if (R.first)
      J.attributeArray(Name, [&] {
        J.value(R.first);
        J.value(R.second);
      });
  };
  Lines("sourceLines", L.Source);
  Lines("resultLines", L.Result);
  J.attributeArray("links", [&] {
    for (const Link &One : L.Links)
      J.object([&] {
        J.attribute("kind", One.Kind);
        J.attribute("name", json::fixUTF8(One.Name));
        writeSpans(J, "source", One.Source);
        writeSpans(J, "result", One.Result);
      });
  });
  J.attributeArray("sameLines", [&] {
    for (const auto &[Source, Result] : L.Same)
      J.array([&, A = Source, B = Result] {
        J.value(A);
        J.value(B);
      });
  });
}

void writeKernel(json::OStream &J, const FileReport &F, const KernelResult &K) {
  J.object([&] {
    J.attribute("name", json::fixUTF8(K.Name));
    J.attribute("verdict", verdictName(K.Verdict));
    writePos(J, K.Pos);
    writeStrings(J, "arrays", K.Arrays);
    if (!K.PlanText.empty())
      J.attribute("summary", json::fixUTF8(K.PlanText));
    J.attributeObject("launches", [&] {
      J.attribute("rewritten", K.LaunchesRewritten);
      J.attribute("left", K.LaunchesLeft);
      J.attribute("unseen", K.Model ? K.Model->UnseenLaunches.size() : 0);
      if (!K.LeftLaunches.empty())
        J.attributeArray("leftLaunches", [&] {
          for (const auto &[Pos, Why] : K.LeftLaunches)
            J.object([&] { writePos(J, Pos), J.attribute("why", json::fixUTF8(Why)); });
        });
    });
    J.attributeArray("declines", [&] {
      for (const Decline &D : K.Declines)
        writeDecline(J, D);
    });
    std::vector<std::string> Notes = K.Notes;
    Notes.insert(Notes.end(), K.TuneNotes.begin(), K.TuneNotes.end());
    writeStrings(J, "notes", Notes);
    if (!K.Warnings.empty())
      writeStrings(J, "warnings", K.Warnings);
    if (K.Verdict == KernelResult::Rewritten && K.ThePlan)
      writePlan(J, K, *K.ThePlan);
    writeContract(J, K);
    writeStatements(J, "checks", checksOf(K));
    if (K.Verdict == KernelResult::Rewritten)
      J.attributeArray("distribution", [&] {
        for (const ArrayPicture &P : K.Pictures)
          writePicture(J, P);
      });
    if (K.Resources)
      writeResources(J, *K.Resources);
    if (K.Chosen)
      writeChoice(J, *K.Chosen);
    if (F.Source && F.NewText)
      writeLinks(J, linksOf(K, *F.Source, *F.NewText, *F.Rewrite));
  });
}

void writeFile(json::OStream &J, const FileReport &F) {
  J.object([&] {
    J.attribute("file", json::fixUTF8(F.File));
    if (!F.Arch.empty())
      J.attribute("arch", F.Arch);
    if (!F.Output.empty())
      J.attribute("output", json::fixUTF8(F.Output));
    J.attributeArray("errors", [&] {
      for (const auto &[Pos, Text] : F.Errors)
        J.object([&] {
          J.attribute("text", json::fixUTF8(Text));
          writePos(J, Pos);
        });
    });
    J.attributeArray("kernels", [&] {
      if (F.Rewrite)
        for (const KernelResult &K : F.Rewrite->Kernels)
          writeKernel(J, F, K);
    });
    if (F.Source && F.NewText) {
      J.attribute("source", json::fixUTF8(*F.Source));
      J.attribute("result", json::fixUTF8(*F.NewText));
    }
  });
}

} // namespace

const char *verdictName(KernelResult::VerdictKind Verdict) {
  switch (Verdict) {
  case KernelResult::Rewritten:
    return "rewritten";
  case KernelResult::Declined:
    return "declined";
  case KernelResult::NotShared:
    return "not-shared";
  }
  return "declined";
}

std::string reportJson(const std::vector<FileReport> &Files) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("schema", SchemaVersion);
    J.attribute("tool", "rcache-rewrite");
    J.attribute("version", RCACHE_VERSION);
    J.attributeArray("files", [&] {
      for (const FileReport &F : Files)
        writeFile(J, F);
    });
  });
  OS << '\n';
  return Text;
}

} // namespace rcache
