// The token that is looked at, in figures: the keys with the largest weights of its row, the rows with the largest in its
// column.

const kListed = 8;

// Indices of the `count` largest weights, largest first; equal ones in order.
function largest(weights, count) {
  const best = [];
  for (let t = 0; t < weights.length; ++t) {
    if (!(weights[t] > 0) || (best.length === count && weights[t] <= weights[best[count - 1]])) continue;
    let at = best.length;
    while (at > 0 && weights[best[at - 1]] < weights[t]) --at;
    best.splice(at, 0, t);
    if (best.length > count) best.pop();
  }
  return best;
}

class WeightList {
  constructor(element, tokens, noun, pick) {
    this.element = element;
    this.noun = noun;
    this.tokens = tokens;
    this.lines = Array.from({length: kListed}, () => this.line(pick));
    this.rest = document.createElement("li");
    this.rest.className = "rest";
    element.append(...this.lines.map((line) => line.item), this.rest);
  }

  line(pick) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    const parts = ["place", "token", "bar", "weight"].map((name) => {
      const part = document.createElement("span");
      part.className = name;
      button.append(part);
      return part;
    });
    const fill = document.createElement("b");
    parts[2].append(fill);
    item.append(button);
    const line = {item, button, place: parts[0], token: parts[1], fill, weight: parts[3]};
    button.addEventListener("click", () => pick(line.shows));
    return line;
  }

  show(weights, sums) {
    const best = largest(weights, kListed);
    let listed = 0;
    this.lines.forEach((line, n) => {
      line.item.hidden = n >= best.length;
      if (n >= best.length) return;
      const t = best[n];
      listed += weights[t];
      if (line.shows !== t) {
        line.shows = t;
        line.place.textContent = t;
        showToken(line.token, this.tokens[t], {limit: 16});
      }
      line.weight.textContent = weightText(weights[t]);
      line.fill.style.inlineSize = `${100 * weights[t]}%`;
      line.button.setAttribute("aria-label", `${this.noun} ${t}, ${labelOf(this.tokens[t], 48)}, ${weightText(weights[t])}`);
    });
    let others = 0;
    let sum = 0;
    for (const weight of weights) {
      if (!(weight >= 0)) continue;
      ++others;
      sum += weight;
    }
    others -= best.length;
    const rest = others > 0 ? `${plain(others)} more together ${weightText(Math.max(0, sum - listed))}` : "";
    this.rest.textContent = best.length === 0 && others <= 0 ? "nothing" : sums ? rest : rest === "" ? "" : `${rest}; mean ${weightText(sum / (others + best.length))}`;
  }
}
