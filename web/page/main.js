// The page: one state (head, row, key, held or not, scale, side, theme) and what follows from it.

const at = (id) => document.getElementById(id);

const percent = (value) => `${(100 * value).toFixed(1)} %`;
const length = (value, noun) => `${value < 100 ? value.toFixed(1) : plain(Math.round(value))} ${noun}s`;
const kMeans = [
  {key: "self", name: "to itself", share: true, text: percent},
  {key: "previous", name: "to the one before", share: true, text: percent},
  {key: "first", name: "to the first", share: true, text: percent},
  {key: "distance", name: "distance", share: false, text: length},
  {key: "spread", name: "spread over", share: false, text: length},
];

class Page {
  constructor(facts) {
    this.facts = facts;
    this.tokens = facts.tokens;
    this.noun = facts.readings === null ? "token" : "step";
    this.made = new Uint8Array(this.tokens.length);
    for (const [begin, end] of facts.generated) this.made.fill(1, begin, end);
    this.attention = new Attention(facts);
    this.rowWeights = new Float32Array(this.tokens.length);
    this.columnWeights = new Float32Array(this.tokens.length);
    this.state = {layer: 0, head: 0, row: Math.floor(0.6 * this.tokens.length), key: null, compared: null, held: false, scale: this.tokens.length > 600 ? 2 : 1, side: "looks", theme: "system"};
    this.describe();
    const leave = () => this.leave();
    this.overview = new Overview(at("overview"), facts.layers, (layer, head) => this.choose(layer, head));
    this.map = new AttentionMap(at("map"), this.attention, this.tokens, facts.generated, {
      hover: (row, key, event) => this.hover(row, key, event),
      pick: (row, key) => this.pick(row, key),
      leave,
    });
    this.strip = new Strip(at("strip"), this.tokens, this.made, facts.readings, {hover: (token) => this.hover(token, null), pick: (token) => this.pick(token, null), leave});
    this.looks = new WeightList(at("looks"), this.tokens, this.noun, (token) => this.go(token, null, {held: true}));
    this.seen = new WeightList(at("seen"), this.tokens, this.noun, (token) => this.go(token, null, {held: true}));
    this.choices();
    this.keys();
    this.colour();
    this.choose(0, 0);
    this.strip.current(this.state.row, true);
  }

  get layer() {
    return this.facts.layers[this.state.layer];
  }
  get head() {
    return this.layer.heads[this.state.head];
  }

  // ---- what does not change

  describe() {
    const {facts} = this;
    const title = labelText(facts.title) || "Attention maps";
    at("title").textContent = title;
    document.title = `${title} \u00b7 attention`;
    const shown = facts.layers.reduce((sum, layer) => sum + layer.heads.length, 0);
    const looks = facts.mask.causal ? `each ${this.noun} sees itself and those before` : `each ${this.noun} sees all`;
    const near = facts.mask.window === 0 ? "" : `, fewer than ${plain(facts.mask.window)} away`;
    const written = this.made.reduce((sum, made) => sum + made, 0);
    const parts = [`${count(facts.layers.length, "layer")}, ${count(shown, "head")}`, count(this.tokens.length, this.noun), looks + near];
    if (written > 0) parts.splice(2, 0, `${plain(written)} generated`);
    at("summary").textContent = parts.join(" \u00b7 ");
    if (facts.readings !== null) {
      const channels = facts.readings.length;
      at("strip-title").textContent = channels === 1 ? "Series, shaded by" : `${channels} channels, each to its own height, shaded by`;
      at("side").querySelector("legend").textContent = "Shade the readings by";
    }
    at("main").style.setProperty("--digits", String(this.tokens.length - 1).length);
    for (const {name, value} of facts.facts) at("facts").append(term(name, value));
    const rows = facts.checkedRows === this.tokens.length ? "all rows" : `${facts.checkedRows} rows`;
    const difference = facts.largestDifference === null ? "not a number" : facts.largestDifference.toExponential(1).replace("e-", "e\u2212");
    at("precision").textContent =
      "Exact maps: the file holds the forward pass\u2019s queries, keys and row sums as 32-bit floats, without loss; weights are computed from them here. " +
      `Largest difference from the forward pass\u2019s own weights (${rows} of every head checked): ${difference}. ` +
      `Written by ${facts.program}. It asks the network for nothing.`;
  }

  // ---- choices

  choices() {
    const radios = (field, options, chosen, change) => {
      for (const {value, text} of options) {
        const label = document.createElement("label");
        const input = document.createElement("input");
        input.type = "radio";
        input.name = field;
        input.value = value;
        input.checked = value === chosen;
        input.addEventListener("change", () => change(value));
        label.append(input, text);
        at(field).append(label);
      }
    };
    radios("scale", kScales.map(({name}) => ({value: name, text: name})), kScales[this.state.scale].name, (name) => this.setScale(kScales.findIndex((scale) => scale.name === name)));
    radios("side", [{value: "looks", text: "where it looks"}, {value: "seen", text: "who looks at it"}], "looks", (side) => this.setSide(side));
    at("zoom-in").addEventListener("click", () => this.map.zoom(1));
    at("zoom-out").addEventListener("click", () => this.map.zoom(-1));
    at("zoom-fit").addEventListener("click", () => this.map.fit());
    at("theme").addEventListener("click", () => this.nextTheme());
    at("help-open").addEventListener("click", () => at("help").showModal());
    at("release").addEventListener("click", () => this.release());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.colour());
  }

  setScale(scale) {
    this.state.scale = scale;
    at("scale").querySelectorAll("input")[scale].checked = true;
    this.colour();
  }

  setSide(side) {
    this.state.side = side;
    at("side").querySelector(`[value=${side}]`).checked = true;
    this.colour();
  }

  nextTheme() {
    const next = {system: "light", light: "dark", dark: "system"}[this.state.theme];
    this.state.theme = next;
    if (next === "system") {
      delete document.documentElement.dataset.theme;
    } else {
      document.documentElement.dataset.theme = next;
    }
    at("theme").textContent = `Theme: ${next}`;
    this.colour();
  }

  colour() {
    const {theme: chosen, scale: index, side} = this.state;
    const dark = chosen === "dark" || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
    const style = getComputedStyle(document.documentElement);
    const theme = {};
    for (const name of ["panel", "ink", "quiet", "looks", "seen", "made", "masked"]) theme[name] = style.getPropertyValue(`--${name}`).trim();
    const name = dark ? "dark" : "light";
    const scale = kScales[index];
    const ramp = rampOf(name, "looks");
    this.overview.paint(scale, ramp);
    this.map.colours(scale, ramp, theme);
    this.strip.colours(rampOf(name, side), theme.ink, theme.panel);
    this.legend(scale, ramp);
    if (this.numbers !== undefined) this.refresh();
  }

  legend(scale, ramp) {
    const canvas = at("ramp");
    const pixels = new ImageData(canvas.width, 1);
    for (let x = 0; x < canvas.width; ++x) {
      const c = 3 * Math.round((255 * x) / (canvas.width - 1));
      pixels.data.set([ramp[c], ramp[c + 1], ramp[c + 2], 255], 4 * x);
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    at("ticks").replaceChildren(
      ...scale.ticks.map((weight) => {
        const tick = document.createElement("span");
        tick.textContent = weight === 1e-4 ? "\u2264 0.0001" : String(weight);
        tick.style.insetInlineStart = `${100 * scale.of(weight)}%`;
        return tick;
      }),
    );
    at("legend").setAttribute("aria-label", `Shade shows the weight, ${scale.name} scale from ${scale.ticks[0]} to 1`);
  }

  // ---- the head

  choose(layer, head) {
    Object.assign(this.state, {layer, head});
    this.overview.select(layer, head);
    this.numbers = this.attention.head(this.layer, this.head);
    this.map.show(this.layer.number, this.head.number, this.numbers, this.overview.cells[layer][head].canvas);
    const {facts, head: {facts: means, slope, group, number}} = this;
    at("head-name").textContent = `Layer ${this.layer.number}, head ${number}`;
    const notes = [];
    if (slope !== undefined) notes.push(`distance costs ${Number(slope.toPrecision(3))} a ${this.noun}`);
    if (facts.groups < facts.heads) {
      const size = facts.heads / facts.groups;
      notes.push(size === facts.heads ? "one key head for all" : `keys shared by heads ${group * size}\u2013${(group + 1) * size - 1}`);
    }
    at("head-note").textContent = notes.join(" \u00b7 ");
    at("means-title").textContent = `Head ${this.layer.number}.${number}, mean over rows`;
    at("head-facts").replaceChildren(...kMeans.map((mean) => this.meanLine(mean, means[mean.key])));
    at("map").setAttribute("aria-label", `Layer ${this.layer.number}, head ${number}: ${plain(this.tokens.length)} rows and columns`);
    this.refresh();
  }

  meanLine(mean, value) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = mean.name;
    button.setAttribute("aria-pressed", this.state.compared === mean.key);
    button.addEventListener("click", () => this.compare(this.state.compared === mean.key ? null : mean));
    const line = term("", value === null ? "not a number" : mean.text(value, this.noun));
    line.firstChild.replaceChildren(button);
    return line;
  }

  // Bars under the thumbnails: shares of a row's whole weight, or of the largest of all heads.
  compare(mean) {
    this.state.compared = mean?.key ?? null;
    const values = mean === null ? null : this.facts.layers.map((layer) => layer.heads.map((head) => head.facts[mean.key]));
    this.overview.compare(values, mean?.share ? 1 : Math.max(1e-9, ...(values ?? []).flat()));
    at("head-facts").querySelectorAll("button").forEach((button, n) => button.setAttribute("aria-pressed", kMeans[n] === mean));
  }

  step(by) {
    const all = this.facts.layers.flatMap((layer, l) => layer.heads.map((_, h) => [l, h]));
    const now = all.findIndex(([l, h]) => l === this.state.layer && h === this.state.head);
    this.choose(...all[(now + by + all.length) % all.length]);
  }

  // ---- the token

  hover(row, key, event = null) {
    if (event !== null && key !== null) this.tip(row, key, event);
    if (event === null || key === null) at("tip").hidden = true;
    if (this.state.held || (row === this.state.row && key === this.state.key)) return;
    this.look(row, key);
  }

  leave() {
    at("tip").hidden = true;
  }

  pick(row, key) {
    if (this.state.held && this.state.row === row && this.state.key === key) return this.release();
    this.go(row, key, {held: true});
  }

  release() {
    this.state.held = false;
    this.refresh();
  }

  // Looks at a token and brings it into sight everywhere.
  go(row, key, {held = this.state.held} = {}) {
    this.state.held = held;
    this.look(row, key);
    this.map.reveal(row, key);
    this.strip.current(row, true);
  }

  look(row, key) {
    this.state.row = row;
    this.state.key = key;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.refresh();
    });
  }

  refresh() {
    const {row, key, held, side} = this.state;
    this.attention.row(this.numbers, row, 0, this.tokens.length, this.rowWeights);
    this.attention.column(this.numbers, row, this.columnWeights);
    this.looks.show(this.rowWeights, true);
    this.seen.show(this.columnWeights, false);
    this.strip.shade(side === "looks" ? this.rowWeights : this.columnWeights, kScales[this.state.scale]);
    this.strip.element.dataset.side = side;
    this.strip.current(row, false);
    this.map.mark(row, key);
    const name = document.createElement("span");
    name.className = "token";
    showToken(name, this.tokens[row], {limit: 24});
    const badge = document.createElement("span");
    badge.className = "badge";
    badge.textContent = this.made[row] ? "generated" : "";
    at("token-name").replaceChildren(`${this.noun === "step" ? "Step" : "Token"} ${plain(row)} `, name, badge);
    at("release").hidden = !held;
    this.caption();
    this.say();
  }

  caption() {
    const {block} = this.map.level ?? {block: 1};
    const made = this.facts.generated.length > 0;
    const parts = ["Rows look, columns are looked at."];
    if (block > 1) parts.push(`A pixel shows the largest of ${block} \u00d7 ${block} weights.`);
    at("caption").replaceChildren(parts.join(" "));
    if (made) {
      const mark = document.createElement("span");
      mark.className = "made-key";
      mark.textContent = "generated by the model";
      at("caption").append(" ", mark);
    }
  }

  tip(row, key, event) {
    const tip = at("tip");
    const box = this.map.element.getBoundingClientRect();
    const one = new Float32Array(1);
    this.attention.row(this.numbers, row, key, key + 1, one);
    const from = document.createElement("span");
    const to = document.createElement("span");
    from.className = to.className = "token";
    showToken(from, this.tokens[row], {limit: 16});
    showToken(to, this.tokens[key], {limit: 16});
    const weight = document.createElement("b");
    weight.textContent = one[0] < 0 ? "not visible" : weightText(one[0]);
    tip.replaceChildren(from, " \u2192 ", to, weight);
    tip.hidden = false;
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    tip.style.left = `${Math.min(x + 14, box.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 10 : y + 18}px`;
  }

  // For those who listen, once the moving stops.
  say() {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      const {row, key} = this.state;
      const name = (token) => `${this.noun} ${token}, ${labelOf(this.tokens[token], 48)}`;
      const best = largest(this.rowWeights, 3).map((token) => `${weightText(this.rowWeights[token])} at ${name(token)}`);
      const cell = key === null ? "" : ` At ${name(key)}: ${this.rowWeights[key] < 0 ? "not visible" : weightText(this.rowWeights[key])}.`;
      at("status").textContent = `${name(row)} looks ${best.join("; ")}.${cell}`;
    }, 400);
  }

  weights(layerNumber, headNumber, row) {
    const layer = this.facts.layers.find((one) => one.number === layerNumber);
    const head = layer?.heads.find((one) => one.number === headNumber);
    if (head === undefined || !(row in this.tokens)) throw new RangeError("no such layer, head or row in this page");
    const weights = new Float64Array(this.tokens.length);
    this.attention.row(this.attention.head(layer, head), row, 0, this.tokens.length, weights);
    return Array.from(weights);
  }

  // ---- keys

  keys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
      const action = {
        "[": () => this.step(-1),
        "]": () => this.step(1),
        "+": () => this.map.zoom(1),
        "=": () => this.map.zoom(1),
        "-": () => this.map.zoom(-1),
        0: () => this.map.fit(),
        s: () => this.setScale((this.state.scale + 1) % kScales.length),
        w: () => this.setSide(this.state.side === "looks" ? "seen" : "looks"),
        t: () => this.nextTheme(),
        "?": () => at("help").showModal(),
        Escape: () => this.release(),
      }[event.key];
      if (action === undefined) return;
      action();
      event.preventDefault();
    });
    at("map").addEventListener("keydown", (event) => this.mapKey(event));
    at("strip").addEventListener("keydown", (event) => this.stripKey(event));
  }

  mapKey(event) {
    const {row, key} = this.state;
    const last = this.tokens.length - 1;
    const page = Math.max(1, Math.round(last / 16));
    const column = key ?? row;
    const move = {
      ArrowUp: [row - 1, key], ArrowDown: [row + 1, key], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [row - page, key], PageDown: [row + page, key], Home: [0, key], End: [last, key],
    }[event.key];
    if (move === undefined) return this.holdKey(event, row, key);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const within = (token) => (token === null ? null : Math.min(last, Math.max(0, token)));
    this.go(within(move[0]), within(move[1]));
  }

  stripKey(event) {
    const {row} = this.state;
    const last = this.tokens.length - 1;
    const ahead = this.strip.element.dir === "rtl" ? -1 : 1;
    const to = {ArrowLeft: row - ahead, ArrowRight: row + ahead, ArrowUp: row - 1, ArrowDown: row + 1, PageUp: row - 25, PageDown: row + 25, Home: 0, End: last}[event.key];
    if (to === undefined) return this.holdKey(event, row, null);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(Math.min(last, Math.max(0, to)), null);
  }

  holdKey(event, row, key) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    this.pick(row, key);
  }
}

function count(number, word) {
  return `${plain(number)} ${word}${number === 1 ? "" : "s"}`;
}

// Text of one line from outside: whatever is invisible or steers direction is named.
function labelText(text) {
  return piecesOf(text, 400).pieces.map((piece) => piece.text).join("");
}

function term(name, value) {
  const line = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = labelText(name);
  dd.textContent = labelText(value);
  line.append(dt, dd);
  return line;
}

function start() {
  const facts = JSON.parse(at("page-facts").textContent);
  at("notice").hidden = true;
  at("main").hidden = false;
  const page = new Page(facts);
  // For the console: dikkat.weights(layer, head, row) by their numbers, as an array; -1 where the row sees nothing.
  globalThis.dikkat = {weights: (layer, head, row) => page.weights(layer, head, row)};
}

try {
  start();
} catch (error) {
  at("main").hidden = true;
  at("notice").hidden = false;
  at("notice").textContent = `This page cannot be shown: ${error.message}. The file may have been cut short.`;
  throw error;
}
