// The text as it runs, each token shaded by its weight; of a series, its course over columns of shade. One tab stop; arrow
// keys walk from token to token.

const kStripLevels = 24;

class Strip {
  constructor(element, tokens, generated, readings, {hover, pick, leave}) {
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
      if (readings === null) {
        showToken(span, token, {limit: 200, running: true});
      } else {
        span.setAttribute("aria-label", `step ${t}, ${labelOf(token, 24)}`);
      }
      all.append(span);
      return span;
    });
    if (readings === null) {
      element.append(all);
    } else {
      element.dir = "ltr";
      element.classList.add("series");
      element.append(this.course(all, readings, tokens.length));
    }
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

  // Lines of the channels, each from its lowest to its highest reading, over the columns of the steps.
  course(columns, readings, count) {
    const sheet = document.createElement("div");
    sheet.style.minWidth = `${3 * count}px`;
    const svg = (name, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      return node;
    };
    const lines = svg("svg", {viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true"});
    for (const channel of readings) {
      const known = channel.filter((reading) => reading !== null);
      const low = Math.min(...known);
      const range = Math.max(...known) - low || 1;
      const point = (reading, t) => `${t + 0.5},${0.95 - (0.9 * (reading - low)) / range}`;
      // A missing reading breaks the line.
      const runs = channel.reduce((all, reading, t) => {
        if (reading === null) return [...all, []];
        all.at(-1).push(point(reading, t));
        return all;
      }, [[]]);
      for (const run of runs.filter((points) => points.length > 0)) lines.append(svg("polyline", {points: run.join(" ")}));
    }
    sheet.append(columns, lines);
    return sheet;
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
    const {scrollTop, scrollLeft, clientHeight, clientWidth} = this.element;
    if (span.offsetLeft < scrollLeft || span.offsetLeft + span.offsetWidth > scrollLeft + clientWidth) this.element.scrollLeft = span.offsetLeft - clientWidth / 2;
    const above = span.offsetTop < scrollTop;
    const below = span.offsetTop + span.offsetHeight > scrollTop + clientHeight;
    if (above || below) this.element.scrollTop = span.offsetTop - clientHeight / 2;
  }
}
