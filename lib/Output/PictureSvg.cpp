// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small SVG writer: squares of fixed size in lines of 32, text around them.

#include "Output/PictureSvg.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>

using llvm::StringRef;

namespace rcache {

std::vector<PictureOwner> ownersOf(const ArrayPicture &P) {
  std::map<int64_t, PictureOwner> Owners;
  // A register for each (lane, element) that a lane loads, in its own order.
  auto Offer = [&](unsigned Lane, int64_t Element, int64_t Register) {
    Owners.insert({Element, {Element, Lane, Register}});
  };
  if (P.Window.empty())
    return {};
  const int64_t Step = P.LaneStep.back(), Columns = P.Extent.back();
  const bool Loads = P.Exchange == "reload";
  int64_t OwnCount = 0, Span = 0;
  for (int64_t M = 0; M < Columns; ++M) {
    OwnCount += P.Window[M].Source == PictureCell::Own;
    Span = std::max(Span, P.Window[M].Element.back() + 1);
  }
  // First what lanes keep for themselves, then what nobody else has.
  for (const bool Rest : {false, true})
    for (unsigned Lane = 0; Lane < P.Lanes; ++Lane)
      for (int64_t M = 0; M < Columns; ++M) {
        const PictureCell &C = P.Window[M];
        const int64_t Element = Lane * Step + C.Element.back();
        if (!Rest && C.Source == PictureCell::Own)
          Offer(Lane, Element, Loads ? M : C.FromRegister);
        else if (Rest && C.Source == PictureCell::Reload)
          Offer(Lane, Element, M);
        else if (Rest && C.Source == PictureCell::Shuffle) {
          // Behind the warp's end: the source lane's next chunk or row.
          const int64_t From = Lane + C.Distance;
          if (From < 0 || From >= 32)
            Offer(static_cast<unsigned>((From % 32 + 32) % 32), Element,
                  C.FromRegister + (P.Detail == "round robin" ? 1 : OwnCount));
        }
      }
  std::vector<PictureOwner> Result;
  for (const auto &[Element, Owner] : Owners)
    Result.push_back(Owner);
  return Result;
}

namespace {

constexpr int Cell = 26, Line = 18, Left = 16, Columns = 32;
constexpr int Width = 2 * Left + 60 + Columns * Cell;

std::string escaped(StringRef Text) {
  const std::string Utf8 = llvm::json::fixUTF8(Text);
  std::string Result;
  for (const char C : Utf8) {
    switch (C) {
    case '&':
      Result += "&amp;";
      break;
    case '<':
      Result += "&lt;";
      break;
    case '>':
      Result += "&gt;";
      break;
    case '"':
      Result += "&quot;";
      break;
    default:
      // XML 1.0 has no other control characters.
      if (static_cast<unsigned char>(C) >= 0x20 || C == '\t')
        Result += C;
    }
  }
  return Result;
}

/// Neighbouring lanes get colours that are easy to tell apart.
std::string colour(int64_t Lane) {
  const int64_t Hue = (Lane % 32 + 32) % 32 * 137 % 360;
  return "hsl(" + std::to_string(Hue) + ",65%," +
         (Lane % 2 ? std::string("72%") : std::string("82%")) + ")";
}

class Drawing {
  std::string Body;
  llvm::raw_string_ostream OS;
  int Y = Left;

public:
  Drawing() : OS(Body) {}

  /// In as many lines as it takes: SVG breaks none.
  void text(StringRef Class, const llvm::Twine &Text) {
    const size_t Most = Class == "h" ? 90 : Class == "a" ? 112 : 140;
    const std::string All = Text.str();
    for (StringRef Rest = All; !Rest.empty();) {
      const size_t Blank = Rest.size() > Most ? Rest.rfind(' ', Most) : StringRef::npos;
      const StringRef Now = Rest.take_front(Blank);
      Y += Line;
      OS << "<text class=\"" << Class << "\" x=\"" << Left << "\" y=\"" << Y - 5
         << "\">" << escaped(Now) << "</text>\n";
      Rest = Rest.drop_front(Now.size()).ltrim();
    }
  }

  void gap(int Height) { Y += Height; }

  /// In column \p Column of the current line of squares.
  void square(int Column, StringRef Fill, bool Shared, StringRef Upper,
              StringRef Lower, StringRef Tip) {
    const int X = Left + 60 + Column * Cell;
    OS << "<g><title>" << escaped(Tip) << "</title><rect class=\""
       << (Shared ? "also" : "own") << "\" x=\"" << X << "\" y=\"" << Y
       << "\" width=\"" << Cell << "\" height=\"" << Cell << "\" fill=\""
       << Fill << "\"/><text class=\"in\" x=\"" << X + Cell / 2 << "\" y=\""
       << Y + 11 << "\">" << Upper << "</text><text class=\""
       << (Lower.size() > 5 ? "long" : "in") << "\" x=\"" << X + Cell / 2 << "\" y=\"" << Y + 22 << "\">" << Lower
       << "</text></g>\n";
  }

  void label(StringRef Text) {
    OS << "<text class=\"at\" x=\"" << Left + 54 << "\" y=\""
       << Y + Cell / 2 + 4 << "\">" << escaped(Text) << "</text>\n";
  }

  void nextLine() { Y += Cell; }

  std::string finish() {
    OS.flush();
    const std::string Height = std::to_string(Y + Left);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
           std::to_string(Width) + "\" height=\"" + Height +
           "\" viewBox=\"0 0 " + std::to_string(Width) + " " + Height +
           "\" font-family=\"sans-serif\">\n"
           "<style>.h{font-size:16px;font-weight:bold}.a{font-size:14px;"
           "font-weight:bold}.t{font-size:12px}.at{font-size:11px;text-anchor:"
           "end}.in{font-size:9px;text-anchor:middle}.long{font-size:7.5px;"
           "text-anchor:middle}.own{stroke:#444;"
           "stroke-width:.6}.also{stroke:#444;stroke-width:.6;stroke-dasharray:"
           "3 2;fill-opacity:.45}</style>\n<rect width=\"100%\" height="
           "\"100%\" fill=\"white\"/>\n" +
           Body + "</svg>\n";
  }
};

std::string number(int64_t N) { return std::to_string(N); }

/// "3" or "(1, 3)".
std::string point(const std::vector<int64_t> &P) {
  if (P.size() == 1)
    return number(P[0]);
  std::string Text = "(";
  for (size_t I = 0; I < P.size(); ++I)
    Text += (I ? ", " : "") + number(P[I]);
  return Text + ")";
}

void drawOwners(Drawing &D, const ArrayPicture &P) {
  const std::vector<PictureOwner> Owners = ownersOf(P);
  int64_t Rows = 1;
  for (size_t I = 0; I + 1 < P.Extent.size(); ++I)
    Rows *= P.Extent[I];
  D.text("t", "Who owns which element: lane over register, elements from the "
              "first one of lane 0" +
                  llvm::Twine(Rows > 1 ? ", in each of the " + number(Rows) +
                                             " rows of the window"
                                       : ""));
  D.gap(4);
  int64_t Shown = INT64_MIN;
  for (const PictureOwner &O : Owners) {
    const int64_t Begin =
        O.Element - ((O.Element % Columns) + Columns) % Columns;
    if (Begin != Shown) {
      if (Shown != INT64_MIN)
        D.nextLine();
      D.label(number(Begin));
      Shown = Begin;
    }
    D.square(static_cast<int>(O.Element - Begin), colour(O.Lane), false,
             "l" + number(O.Lane), "r" + number(O.Register),
             "element " + number(O.Element) + ": lane " + number(O.Lane) +
                 ", register " + number(O.Register));
  }
  D.nextLine();
}

void drawWindow(Drawing &D, const ArrayPicture &P) {
  const int64_t Lane = std::min<int64_t>(8, P.Lanes / 2);
  D.text("t", "Where the window of lane " + number(Lane) +
                  " comes from, register by register: element over source");
  D.gap(4);
  int64_t InRow = 0;
  for (const PictureCell &C : P.Window) {
    const int64_t Column = C.Register.back();
    if (Column % Columns == 0) {
      if (InRow++)
        D.nextLine();
      D.label(point(C.Register));
    }
    const bool Shuffled = C.Source == PictureCell::Shuffle;
    const int64_t From = Shuffled ? ((Lane + C.Distance) % 32 + 32) % 32 : Lane;
    std::vector<int64_t> Element = C.Element;
    for (size_t I = 0; I < Element.size(); ++I)
      Element[I] += Lane * P.LaneStep[I];
    std::string Tip =
        "register " + point(C.Register) + ", element " + point(Element) + ": ";
    Tip += Shuffled ? "shuffled from lane " + number(From) + ", register " +
                          number(C.FromRegister)
           : C.Source == PictureCell::Own ? "own"
                                          : "loaded again";
    D.square(static_cast<int>(Column % Columns), colour(From),
             C.Source == PictureCell::Reload, number(Element.back()),
             Shuffled ? "l" + number(From)
                      : (C.Source == PictureCell::Own ? "own" : "load"),
             Tip);
  }
  D.nextLine();
}

/// The plan in lines that fit.
void drawPlan(Drawing &D, StringRef Plan) {
  llvm::SmallVector<StringRef> Items;
  Plan.split(Items, "; ");
  std::string Text;
  for (StringRef Item : Items) {
    if (!Text.empty() && Text.size() + Item.size() > 125) {
      D.text("t", Text);
      Text.clear();
    }
    Text += (Text.empty() ? "" : "; ") + Item.str();
  }
  D.text("t", Text);
}

void drawLegend(Drawing &D) {
  D.text("t", "A colour is a lane. own: loaded by the lane, and by no lane "
              "before it; load (dashed): loaded by the lane although a "
              "neighbour has it;");
  D.text("t", "lN: shuffled from lane N. Elements are counted from the first "
              "one of lane 0; pointing at a square tells all of it.");
}

/// An array that a warp owns: element over lane and register.
void drawHeld(Drawing &D, const ArrayPicture &P) {
  D.text("t", "Who owns which element: element over lane and register");
  D.gap(4);
  std::map<int64_t, std::pair<int64_t, int64_t>> HomeOf;
  for (size_t Lane = 0; Lane < P.Held.size(); ++Lane)
    for (size_t R = 0; R < P.Held[Lane].size(); ++R)
      if (P.Held[Lane][R] >= 0)
        HomeOf[P.Held[Lane][R]] = {int64_t(Lane), int64_t(R)};
  int64_t Shown = 0;
  D.label("0");
  for (const auto &[Element, Home] : HomeOf) {
    if (const int64_t Begin = Element - Element % Columns; Begin != Shown) {
      D.nextLine();
      D.label(number(Begin));
      Shown = Begin;
    }
    D.square(static_cast<int>(Element % Columns), colour(Home.first), false,
             number(Element), "l" + number(Home.first) + "r" + number(Home.second),
             "element " + number(Element) + ": lane " + number(Home.first) +
                 ", register " + number(Home.second));
  }
  D.nextLine();
}

/// What the registers of one lane get in a step.
void drawStep(Drawing &D, const ArrayPicture &P, const PictureStep &S) {
  const int64_t Lane = 8;
  D.gap(4);
  D.text("t", S.Access.Text + " (line " + llvm::Twine(S.Access.Pos.Line) + ")" +
                  (S.Rounds.empty() ? "" : ", " + S.Rounds) + ": " + S.Words);
  D.gap(4);
  D.label("lane " + number(Lane));
  for (const PictureStep::Move &M : S.Moves) {
    const int64_t Beyond = Lane + M.Lanes;
    const bool Ahead = S.Kind == PictureStep::Ahead;
    const int64_t From = S.Kind == PictureStep::OfAll     ? M.Lanes
                         : S.Kind == PictureStep::Flipped ? Lane ^ M.Lanes
                                                          : (Beyond % 32 + 32) % 32;
    // Behind the end of the warp: the next register, or no element at all.
    const bool Behind = Ahead && (Beyond < 0 || Beyond >= 32);
    const int64_t Register = M.FromRegister + (Behind ? (Beyond - From) / 32 : 0);
    if ((Behind && P.Detail != "round robin") || Register < 0 ||
        Register >= int64_t(P.Held[0].size()) || M.Register >= Columns)
      continue;
    D.square(static_cast<int>(M.Register), colour(From), true,
             "r" + number(M.Register), "l" + number(From) + "r" + number(Register),
             "register " + number(M.Register) + " of lane " + number(Lane) +
                 ": from lane " + number(From) + ", register " +
                 number(Register) + ", element " +
                 number(P.Held[From][Register]));
  }
  D.nextLine();
}

/// An array of each thread: elements down, banks across.
void drawBanks(Drawing &D, const ArrayPicture &P) {
  int64_t Elements = 1;
  for (const PictureDimension &L : P.Layout)
    if (L.Of == "elements")
      Elements *= L.Size;
  D.text("t", "A column is a bank of shared memory, for elements of four bytes: "
              "thread over element");
  D.gap(4);
  for (int64_t E = 0; E < std::min<int64_t>(Elements, 8); ++E) {
    D.label(number(E));
    for (int Lane = 0; Lane < Columns; ++Lane)
      D.square(Lane, colour(Lane), false, "t" + number(Lane), "e" + number(E),
               "element " + number(E) + " of thread " + number(Lane));
    D.nextLine();
  }
  if (Elements > 8)
    D.text("t", "and so on, " + number(Elements) + " elements");
}

/// What has no window: the words, and a drawing where there is one.
void drawOther(Drawing &D, const ArrayPicture &P) {
  D.text("a", P.Array + ": " + P.Words);
  if (!P.Layout.empty()) {
    std::string Text = "in shared memory: " + P.Array;
    for (const PictureDimension &L : P.Layout)
      Text += "[" + (L.Size ? number(L.Size) + " " : "") + L.Of + "]";
    D.text("t", Text);
  }
  if (P.Exchange == "private")
    drawBanks(D, P);
  if (P.Held.empty())
    return;
  drawHeld(D, P);
  constexpr size_t Most = 24;
  for (size_t I = 0; I < std::min(Most, P.Steps.size()); ++I)
    drawStep(D, P, P.Steps[I]);
  if (P.Steps.size() > Most)
    D.text("t", "and " + llvm::Twine(P.Steps.size() - Most) + " more steps");
}

void draw(Drawing &D, const ArrayPicture &P) {
  D.gap(8);
  if (P.Exchange != "shuffle" && P.Exchange != "reload")
    return drawOther(D, P);
  D.text("a",
         P.Array + ": " +
             (P.Exchange == "shuffle" ? P.Detail + ", shuffled"
              : P.Detail.empty()      ? "reloaded"
                                      : "reloaded " + P.Detail));
  if (P.Window.empty())
    return;
  drawOwners(D, P);
  D.gap(4);
  drawWindow(D, P);
}

} // namespace

std::string pictureSvg(const std::vector<FileReport> &Files) {
  Drawing D;
  bool Any = false;
  for (const FileReport &F : Files)
    for (const KernelResult &K :
         F.Rewrite ? F.Rewrite->Kernels : std::vector<KernelResult>()) {
      if (K.Verdict != KernelResult::Rewritten)
        continue;
      if (!Any)
        drawLegend(D);
      D.gap(Any ? 24 : 8);
      Any = true;
      D.text("h", K.Name);
      D.text("t", (K.Pos.File.empty() ? F.File : K.Pos.File) + ":" +
                      llvm::Twine(K.Pos.Line));
      drawPlan(D, K.PlanText);
      for (const ArrayPicture &P : K.Pictures)
        draw(D, P);
    }
  if (!Any)
    D.text("t", "no kernel was rewritten");
  return D.finish();
}

} // namespace rcache
