// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WarpTails.h, withoutTiles.

#include "WarpSteps.h"
#include "rcache/WarpTails.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// Does the first warp alone hand on values, where several may wait?
static bool handsOnInTails(const KernelModel &M) {
  return llvm::all_of(M.LaneExchanges, [&](const LaneExchange &X) {
    return X.K == LaneExchange::Lanes || X.K == LaneExchange::Lane ||
           X.K == LaneExchange::Tile ||
           llvm::any_of(M.Stmts, [&](const Stmt &S) {
             return S.K == Stmt::If && S.Range.contains(X.Range) &&
                    isOfOneWarp(M, S);
           });
  });
}

std::optional<OtherBody> rcache::withoutTiles(const KernelModel &M) {
  if (!isOneDim(M) || !handsOnInTails(M))
    return std::nullopt;
  OtherBody R;
  unsigned At = M.BodyRange.Begin;
  for (const LaneExchange &X : M.LaneExchanges) {
    if (!X.OfTile)
      continue;
    if (!X.Plain || X.Range.Begin < At)
      return std::nullopt;
    R.Text += M.text({At, X.Range.Begin});
    At = X.Range.End;
    const std::string Args =
        "(0xffffffffu, " + M.text(X.Value) + ", " + M.text(X.By) + ")";
    switch (X.K) {
    case LaneExchange::Down:
      R.Text += "__shfl_down_sync" + Args;
      break;
    case LaneExchange::Up:
      R.Text += "__shfl_up_sync" + Args;
      break;
    case LaneExchange::Xor:
      R.Text += "__shfl_xor_sync" + Args;
      break;
    case LaneExchange::At:
      R.Text += "__shfl_sync" + Args;
      break;
    case LaneExchange::Lanes:
      R.Text += "32u";
      break;
    case LaneExchange::Lane:
      R.Text += "(threadIdx.x % 32u)";
      break;
    case LaneExchange::Wait:
      R.Text += "__syncwarp()";
      break;
    case LaneExchange::Tile:
      break;
    }
  }
  if (At == M.BodyRange.Begin)
    return std::nullopt;
  R.Text += M.text({At, M.BodyRange.End});
  R.Form = M.Form;
  return R;
}
