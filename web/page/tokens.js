// Tokens as people can see them: what is invisible, steers the direction of text or is no text at all is named, never
// obeyed. Tokens come from anywhere; they enter the page through textContent and the canvas only.

const kShortNames = new Map([["\n", "\u21b5"], ["\t", "\u21e5"], ["\u00a0", "nbsp"], ["\u00ad", "shy"]]);
const kInvisible = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const kMark = /\p{M}/u;
const kRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function nameOf(character) {
  const code = character.codePointAt(0);
  if (kShortNames.has(character)) return kShortNames.get(character);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

// A token in pieces {text, named}: `named` text stands for something that cannot be seen. At most `limit` characters,
// `cut` says how many more there are.
function piecesOf(token, limit) {
  if (typeof token !== "string") {
    const bytes = token.bytes.toUpperCase().match(/../g);
    return {pieces: bytes.slice(0, limit).map((text) => ({text, named: true})), cut: Math.max(0, bytes.length - limit)};
  }
  const pieces = [];
  let run = "";
  let marks = 0;
  let count = 0;
  let cut = 0;
  const name = (text) => {
    if (run !== "") pieces.push({text: run, named: false});
    run = "";
    pieces.push({text, named: true});
  };
  for (const character of token) {
    if (++count > limit) {
      ++cut;
      continue;
    }
    marks = kMark.test(character) ? marks + 1 : 0;
    if (character === " ") {
      run += character;
    } else if (kInvisible.test(character) || marks > 3) {
      name(nameOf(character));
    } else {
      run += marks === 1 && run === "" ? "\u25cc" + character : character;
    }
  }
  if (run !== "") pieces.push({text: run, named: false});
  if (token === "") pieces.push({text: "empty", named: true});
  return {pieces, cut};
}

// One line of plain text, for the canvas and for screen readers; names of more than one letter stand in brackets.
function labelOf(token, limit) {
  const {pieces, cut} = piecesOf(token, limit);
  const text = pieces.map((piece) => (piece.named ? bracketed(piece.text) : piece.text.replaceAll(" ", "\u2423"))).join("");
  return cut > 0 ? text + "\u2026" : text;
}

function bracketed(name) {
  return name.length > 1 ? `\u27e8${name}\u27e9` : name;
}

// Fills `element` with the token; in running text a line feed also ends the line and a space is a space.
function showToken(element, token, {limit = 48, running = false} = {}) {
  const {pieces, cut} = piecesOf(token, limit);
  element.replaceChildren();
  for (const piece of pieces) {
    if (piece.named) {
      const mark = document.createElement("i");
      mark.textContent = piece.text;
      element.append(mark);
      if (running && piece.text === "\u21b5") element.append("\n");
    } else {
      element.append(running ? piece.text : piece.text.replaceAll(" ", "\u2423"));
    }
  }
  if (cut > 0) {
    const more = document.createElement("i");
    more.textContent = running ? `\u2026 ${plain(cut)} more` : "\u2026";
    element.append(more);
  }
}

function readsRightToLeft(tokens) {
  let right = 0;
  let letters = 0;
  for (const token of tokens) {
    if (typeof token !== "string" || !/\p{L}/u.test(token)) continue;
    ++letters;
    if (kRightToLeft.test(token)) ++right;
  }
  return 2 * right > letters;
}

// 4096 -> "4,096"
function plain(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// A weight with three significant digits.
function weightText(weight) {
  if (Number.isNaN(weight)) return "\u2013";
  if (weight === 0) return "0";
  return weight >= 0.001 ? weight.toPrecision(3).slice(0, 6) : weight.toExponential(1).replace("e-", "e\u2212");
}
