// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for a picture from the isl values of a plan. Nothing is decided here;
// what the emitter writes is said again for people (see Plan.h). How a placement
// is drawn stands in its file.

#include "Pictures.h"
#include "Interleave.h"
#include "placements/Placements.h"
#include "Support/Words.h"
#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

using namespace rcache;

/// Lanes in a row along x that belong to one logical block.
static unsigned lanesOf(const Mapping &Map) {
  if (!Map.Block)
    return 32;
  return static_cast<unsigned>(std::clamp<int64_t>(Map.threads(0), 1, 32));
}

namespace {

/// isl's notation in words of C++: what stands between "{" and "}", symbols by
/// their text, products written out. Conditions that always hold are left out.
class Words {
  std::map<std::string, std::string> TextOf;

public:
  explicit Words(const KernelModel &M) {
    for (const Symbol &S : M.Symbols)
      TextOf[S.Id] = S.Text;
  }

  template <typename T> std::string of(const T &V) const {
    if (V.is_null())
      return "";
    std::ostringstream S;
    S << V;
    std::string Text = S.str();
    const size_t Open = Text.find("{"), Close = Text.rfind('}');
    if (Open == std::string::npos || Close == std::string::npos)
      return Text;
    return named(Text.substr(Open + 1, Close - Open - 1));
  }

  /// The conjuncts of a set without those that say that ids are not negative.
  std::string condition(const isl::set &S) const {
    std::string Text = of(S);
    if (const size_t Colon = Text.find(':'); Colon != std::string::npos)
      Text.erase(0, Colon + 1);
    if (Text.find(" or ") != std::string::npos)
      return trimmed(Text);
    std::string Result;
    for (size_t At = 0; At != std::string::npos;) {
      const size_t Next = Text.find(" and ", At);
      const std::string Part = trimmed(Text.substr(
          At, Next == std::string::npos ? std::string::npos : Next - At));
      At = Next == std::string::npos ? Next : Next + 5;
      const bool Always =
          (Part.starts_with("blockIdx.") || Part.starts_with("threadIdx.")) &&
          Part.ends_with(" >= 0") && Part.size() <= 16;
      if (!Part.empty() && !Always)
        Result += (Result.empty() ? "" : " and ") + Part;
    }
    return Result;
  }

  /// A staged value; \p Depth bounds what nested choices make of it.
  std::string value(const ValueRef &V, unsigned Depth = 6) const {
    if (!V || Depth == 0)
      return "...";
    auto Operand = [&](size_t I) { return value(V->Operands[I], Depth - 1); };
    switch (V->K) {
    case Value::Affine:
      return stripped(of(V->Aff));
    case Value::Load:
      return V->Text + "[" + Operand(0) + "]";
    case Value::Select:
      return "(" + (V->Cond.is_null() ? "?" : condition(V->Cond)) + " ? " +
             Operand(0) + " : " + Operand(1) + ")";
    case Value::Undefined:
      return "undefined";
    case Value::Op: {
      std::string Text = V->Text;
      for (size_t I = V->Operands.size(); I-- > 0;) {
        const std::string Hole = "$" + std::to_string(I);
        for (size_t At = Text.find(Hole); At != std::string::npos;
             At = Text.find(Hole))
          Text.replace(At, Hole.size(), "(" + Operand(I) + ")");
      }
      return Text;
    }
    case Value::Uniform:
    case Value::Unknown:
      return V->Text;
    }
    return "...";
  }

private:
  static std::string trimmed(std::string Text) {
    const size_t First = Text.find_first_not_of(' ');
    if (First == std::string::npos)
      return "";
    return Text.substr(First, Text.find_last_not_of(' ') + 1 - First);
  }

  /// Without the brackets of a tuple of one: "[(tx)]" is "tx".
  static std::string stripped(std::string Text) {
    Text = trimmed(std::move(Text));
    if (Text.starts_with("[(") && Text.ends_with(")]") &&
        Text.find(';') == std::string::npos)
      return Text.substr(2, Text.size() - 4);
    return Text;
  }

  std::string named(const std::string &Text) const {
    std::string Result;
    for (size_t I = 0; I < Text.size();) {
      const unsigned char C = static_cast<unsigned char>(Text[I]);
      size_t End = I + 1;
      if (std::isdigit(C)) {
        while (End < Text.size() &&
               std::isdigit(static_cast<unsigned char>(Text[End])))
          ++End;
        Result += Text.substr(I, End - I);
        if (End < Text.size() &&
            (std::isalpha(static_cast<unsigned char>(Text[End])) ||
             Text[End] == '_'))
          Result += " * ";
      } else if (std::isalpha(C) || C == '_') {
        while (End < Text.size() &&
               isNameChar(Text[End]))
          ++End;
        const std::string Id = Text.substr(I, End - I);
        const auto Known = TextOf.find(Id);
        Result += Known == TextOf.end() || Known->second.empty()
                      ? Id
                      : Known->second;
      } else {
        Result += Text[I];
      }
      I = End;
    }
    return Result;
  }
};

void describeStaging(const KernelModel &M, const Plan &P, const ArrayPlan &A,
                     ArrayPicture &R) {
  const Words W(M);
  for (const StagePiece &Piece : A.Stage.Pieces) {
    PictureStage S;
    isl::set Domain = Piece.Domain;
    if (!Domain.is_null() && !P.Context.is_null())
      Domain = Domain.gist_params(isl::set(P.Context).params());
    S.Where = Domain.is_null() ? "" : W.condition(Domain);
    if (!Piece.Guards.empty())
      S.Where += (S.Where.empty() ? "" : " and ") +
                 std::string("conditions on data");
    S.Value = W.value(Piece.V);
    R.Staging.push_back(std::move(S));
  }
  R.CoverageProved = A.Stage.CoverageProved;
  if (const Window *Win = A.window();
      Win && Win->InteriorPiece >= 0 && !Win->Interior.is_null()) {
    R.Interior = W.condition(Win->Interior);
    R.VectorBytes = Win->Leaves.empty() ? 0 : Win->VectorBytes;
  }
  for (unsigned I : A.Writes)
    R.Writes.push_back({M.SharedAccesses[I].Pos, M.text(M.SharedAccesses[I].Range)});
  for (unsigned I : A.Reads)
    R.Reads.push_back({M.SharedAccesses[I].Pos, M.text(M.SharedAccesses[I].Range)});
}

} // namespace

std::vector<ArrayPicture> rcache::picturesOf(const KernelModel &M,
                                             const Plan &P) {
  std::vector<ArrayPicture> Result;
  for (const ArrayPlan &A : P.Arrays) {
    ArrayPicture Picture;
    Picture.Array = M.Arrays[A.Array].Name;
    Picture.Exchange = placementName(A);
    Picture.Lanes = lanesOf(P.Map);
    describeStaging(M, P, A, Picture);
    std::visit(
        [&](const auto &Where) { draw(Where, Placed{M, P, A}, Picture); },
        A.Where);
    Result.push_back(std::move(Picture));
  }
  for (const InterleavedArray &I : P.Interleaved)
    Result.push_back(pictureOf(M, P, I));
  return Result;
}
