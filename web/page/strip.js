// The text as it runs, each token shaded by its weight. One tab stop; arrow keys walk from token to token.

const kStripLevels = 24;

class Strip {
  constructor(element, tokens, generated, {hover, pick, leave}) {
    this.element = element;
    this.levels = new Uint8Array(tokens.length);
    element.dir = readsRightToLeft(tokens) ? "rtl" : "ltr";
    const all = document.createDocumentFragment();
    this.spans = tokens.map((token, t) => {
      const span = document.createElement("span");
      span.id = `token-${t}`;
      span.setAttribute("role", "option");
      span.dataset.token = t;
      if (generated[t]) span.classList.add("made");
      showToken(span, token, {limit: 200, running: true});
      all.append(span);
      return span;
    });
    element.append(all);
    const tokenAt = (event) => event.target.closest("[data-token]")?.dataset.token;
    element.addEventListener("pointermove", (event) => {
      const token = tokenAt(event);
      if (token !== undefined) hover(Number(token));
    });
    element.addEventListener("pointerleave", leave);
    element.addEventListener("click", (event) => {
      const token = tokenAt(event);
      if (token !== undefined) pick(Number(token));
    });
  }

  // weights (T), negative: not visible
  shade(weights, scale) {
    for (let t = 0; t < weights.length; ++t) {
      const weight = weights[t];
      const level = weight >= 0 ? Math.round((kStripLevels - 1) * Math.min(1, scale.of(weight))) : 0;
      if (level === this.levels[t]) continue;
      this.levels[t] = level;
      this.spans[t].dataset.level = level;
    }
  }

  colours(ramp, ink, beyond) {
    const turn = turnOf(ramp, ink, beyond);
    for (let level = 1; level < kStripLevels; ++level) {
      const t = level / (kStripLevels - 1);
      this.element.style.setProperty(`--level-${level}`, colourAt(ramp, t));
      this.element.style.setProperty(`--ink-${level}`, t >= turn ? beyond : ink);
    }
  }

  current(token, follow) {
    if (this.now !== undefined) {
      this.spans[this.now].classList.remove("current");
      this.spans[this.now].removeAttribute("aria-selected");
    }
    this.now = token;
    const span = this.spans[token];
    span.classList.add("current");
    span.setAttribute("aria-selected", "true");
    this.element.setAttribute("aria-activedescendant", span.id);
    if (!follow) return;
    const {scrollTop, clientHeight} = this.element;
    const above = span.offsetTop < scrollTop;
    const below = span.offsetTop + span.offsetHeight > scrollTop + clientHeight;
    if (above || below) this.element.scrollTop = span.offsetTop - clientHeight / 2;
  }
}
