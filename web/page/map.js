// One head's map, large: rows look, columns are looked at. Drawn in tiles, those in sight first, a few milliseconds at a
// time; until a tile is there its part of the thumbnail stands in. Where a token is less than a pixel, a pixel shows the
// largest weight of its block of tokens.

const kTile = 128;          // pixels a side
const kKeptTiles = 400;     // of 64 KiB of weights each
const kSliceMs = 7;         // of computing before the page may answer somebody
const kRedrawMs = 100;      // between pictures of what has been computed so far
const kPixelsPerToken = [2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56];
const kLabelled = 11;       // CSS pixels a token from which on each has its label
const kNumbered = 30;       // and its figures in the cell
const kLabelFont = "11px ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

class AttentionMap {
  constructor(element, attention, tokens, generated, {hover, pick, leave}) {
    this.element = element;
    this.attention = attention;
    this.count = tokens.length;
    this.generated = generated;
    this.cells = element.querySelector("#cells");
    this.marks = element.querySelector("#marks");
    this.labels = tokens.map((token) => labelOf(token, 14));
    this.tiles = new Map();
    this.queue = [];
    this.origin = {x: 0, y: 0};
    this.row = null;
    this.key = null;
    this.channel = new MessageChannel();
    this.channel.port1.onmessage = () => this.work();
    this.callbacks = {hover, pick, leave};
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element);
  }

  show(layer, head, numbers, thumbnail) {
    this.head = `${layer}-${head}`;
    this.numbers = numbers;
    this.thumbnail = thumbnail;
    this.draw();
  }

  colours(scale, ramp, theme) {
    this.scale = scale;
    this.ramp = ramp;
    this.theme = theme;
    this.turn = turnOf(ramp, theme.ink, theme.panel);
    for (const tile of this.tiles.values()) tile.painted = 0;
    this.draw();
  }

  // ---- geometry: CSS pixels, but where `device` says otherwise

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const {width, height} = this.element.getBoundingClientRect();
    if (width === 0 || height === 0) return;
    const fitted = this.levels === undefined || this.level === this.levels[0];
    this.ratio = ratio;
    this.size = {width, height};
    for (const canvas of [this.cells, this.marks]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    // The most labels that fit at the level that shows all: upright, turned, or none.
    const all = ["upright", "turned", "none"].map((labelling) => ({labelling, levels: this.levelsFor(this.room(this.gutters(labelling)))}));
    this.levels = all.find(({labelling, levels}) => labelling === "none" || labelling === this.labelling(levels[0])).levels;
    if (fitted) return this.fit();
    this.level = this.levels.reduce((best, level) => (Math.abs(level.cell - this.level.cell) < Math.abs(best.cell - this.level.cell) ? level : best));
    this.settle();
  }

  // How tokens are written along the axes: at the top upright where all fit, else turned, or not at all.
  labelling(level) {
    if (level.cell < kLabelled) return "none";
    return this.widest() <= level.cell - 2 ? "upright" : "turned";
  }

  // Of the labels, in CSS pixels.
  widest() {
    if (this.widestLabel === undefined) {
      const context = this.cells.getContext("2d");
      context.font = kLabelFont;
      const some = this.labels.length > 1000 ? this.labels.slice(0, 1000) : this.labels;
      this.widestLabel = Math.min(104, Math.max(...some.map((label) => context.measureText(label).width)));
    }
    return this.widestLabel;
  }

  // Room for the axes at the left and the top.
  gutters(labelling) {
    if (labelling === "none") return {left: 46, top: 28};
    const along = Math.ceil(this.widest());
    return {left: along + 26, top: labelling === "upright" ? 28 : along + 22};
  }

  room({left, top}) {
    return Math.floor(Math.min(this.size.width - left - 2, this.size.height - top - 2) * this.ratio);
  }

  // The levels of zoom: `block` tokens a device pixel, or `pixels` a token. All are whole, but the one that shows all of a
  // few hundred tokens, whose small cells fill the plot.
  levelsFor(device) {
    const largest = Math.floor(44 * this.ratio);
    const share = device / this.count;
    const fit = share >= 1 ? {block: 1, pixels: share < 8 ? share : Math.min(largest, Math.floor(share))} : {block: Math.ceil(this.count / Math.max(64, device)), pixels: 1};
    const finer = [];
    for (let block = 1; block < fit.block; block *= 2) finer.unshift({block, pixels: 1});
    for (const css of kPixelsPerToken) {
      const pixels = Math.round(css * this.ratio);
      if (pixels > fit.pixels) finer.push({block: 1, pixels});
    }
    return [fit, ...finer].map((level) => ({...level, cell: level.pixels / level.block / this.ratio}));
  }

  get labelled() {
    return this.labelling(this.level) !== "none";
  }

  // The part of the element in which cells stand.
  get plot() {
    const {left, top} = this.gutters(this.labelling(this.level));
    const whole = this.count * this.level.cell;
    return {left, top, width: Math.min(whole, this.size.width - left - 2), height: Math.min(whole, this.size.height - top - 2)};
  }

  fit() {
    this.level = this.levels[0];
    this.origin = {x: 0, y: 0};
    this.settle();
  }

  // Keeps the map in its plot, on whole device pixels.
  settle() {
    const plot = this.plot;
    const whole = this.count * this.level.cell;
    const snap = (value, room) => Math.round(Math.min(Math.max(0, value), Math.max(0, whole - room)) * this.ratio) / this.ratio;
    this.origin = {x: snap(this.origin.x, plot.width), y: snap(this.origin.y, plot.height)};
    this.queue = [];
    this.draw();
  }

  // What is under `at` (of the element), or the marked cell, or else the middle, stays.
  zoom(step, at = null) {
    const next = this.levels[Math.min(this.levels.length - 1, Math.max(0, this.levels.indexOf(this.level) + step))];
    if (next === this.level) return;
    const before = this.plot;
    const point = at ?? this.marked(before) ?? {x: before.left + before.width / 2, y: before.top + before.height / 2};
    const token = {x: (point.x - before.left + this.origin.x) / this.level.cell, y: (point.y - before.top + this.origin.y) / this.level.cell};
    this.level = next;
    const after = this.plot;
    this.origin = {x: token.x * next.cell - (point.x - after.left), y: token.y * next.cell - (point.y - after.top)};
    this.settle();
  }

  // The middle of the marked cell (a row without a key: where it meets its own column), if it is in sight.
  marked(plot) {
    if (this.row === null) return null;
    const x = ((this.key ?? this.row) + 0.5) * this.level.cell - this.origin.x;
    const y = (this.row + 0.5) * this.level.cell - this.origin.y;
    return x < 0 || y < 0 || x > plot.width || y > plot.height ? null : {x: plot.left + x, y: plot.top + y};
  }

  // Brings a cell into sight.
  reveal(row, key) {
    const plot = this.plot;
    const {cell} = this.level;
    const into = (token, origin, room) => {
      const margin = Math.min(3 * Math.max(cell, 4), room / 4);
      return Math.min(Math.max(origin, (token + 1) * cell - room + margin), token * cell - margin);
    };
    const x = key === null ? this.origin.x : into(key, this.origin.x, plot.width);
    const y = row === null ? this.origin.y : into(row, this.origin.y, plot.height);
    if (x === this.origin.x && y === this.origin.y) return;
    this.origin = {x, y};
    this.settle();
  }

  tokenAt(event) {
    const box = this.element.getBoundingClientRect();
    const plot = this.plot;
    const x = event.clientX - box.left - plot.left;
    const y = event.clientY - box.top - plot.top;
    const inside = x < plot.width && y < plot.height && (x >= 0 || y >= 0);
    const token = (at, origin) => Math.min(this.count - 1, Math.max(0, Math.floor((at + origin) / this.level.cell)));
    if (!inside) return null;
    return {row: y < 0 ? token(x, this.origin.x) : token(y, this.origin.y), key: x < 0 || y < 0 ? null : token(x, this.origin.x)};
  }

  // ---- tiles

  tile(ty, tx) {
    const id = `${this.head}:${this.level.block}:${ty}:${tx}`;
    let tile = this.tiles.get(id);
    if (tile !== undefined) {
      this.tiles.delete(id);  // the last used stands last
    } else {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = kTile;
      tile = {ty, tx, block: this.level.block, numbers: this.numbers, head: this.head, weights: new Float32Array(kTile * kTile).fill(-1), rows: 0, painted: 0, canvas};
    }
    this.tiles.set(id, tile);
    if (this.tiles.size > kKeptTiles) this.tiles.delete(this.tiles.keys().next().value);
    return tile;
  }

  // One row of pixels of a tile: the largest of each block.
  computeRow(tile) {
    const {block} = tile;
    const from = tile.tx * kTile * block;
    const to = Math.min(this.count, from + kTile * block);
    const first = (tile.ty * kTile + tile.rows) * block;
    const line = tile.weights.subarray(tile.rows * kTile, (tile.rows + 1) * kTile);
    this.buffer ??= new Float32Array(this.count);
    for (let i = first; i < Math.min(this.count, first + block); ++i) {
      this.attention.row(tile.numbers, i, from, to, this.buffer);
      for (let j = from; j < to; ++j) {
        const pixel = Math.floor((j - from) / block);
        if (this.buffer[j - from] > line[pixel]) line[pixel] = this.buffer[j - from];
      }
    }
    ++tile.rows;
  }

  // Computes for one slice; the next is asked for behind whatever else waits to be answered.
  work() {
    const until = performance.now() + kSliceMs;
    while (this.queue.length > 0 && performance.now() < until) {
      const tile = this.queue[0];
      if (tile.rows >= kTile) {
        this.queue.shift();
      } else {
        this.computeRow(tile);
      }
    }
    this.working = this.queue.length > 0;
    if (this.working) this.channel.port2.postMessage(null);
    if (!this.working || until > (this.drawn ?? 0) + kRedrawMs) this.draw();
  }

  want(tile) {
    if (tile.rows < kTile && !this.queue.includes(tile)) this.queue.push(tile);
  }

  paintTile(tile) {
    if (tile.painted >= tile.rows) return;
    const weights = tile.weights.subarray(tile.painted * kTile, tile.rows * kTile);
    const pixels = new ImageData(kTile, tile.rows - tile.painted);
    paint(weights, this.scale, this.ramp, pixels.data);
    tile.canvas.getContext("2d").putImageData(pixels, 0, tile.painted);
    tile.painted = tile.rows;
  }

  // ---- drawing

  draw() {
    if (this.pending || this.levels === undefined || this.numbers === undefined || this.scale === undefined) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawn = performance.now();
      this.drawCells();
      this.drawMarks();
      this.element.dataset.computing = this.queue.length;
      if (this.queue.length > 0 && !this.working) {
        this.working = true;
        this.channel.port2.postMessage(null);
      }
    });
  }

  drawCells() {
    const context = this.cells.getContext("2d");
    const {left, top, width, height} = this.plot;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.fillStyle = this.theme.masked;
    context.fillRect(left, top, width, height);
    context.imageSmoothingEnabled = this.level.pixels < 3 && this.level.pixels % 1 !== 0;
    context.imageSmoothingQuality = "high";
    const side = (kTile * this.level.block) * this.level.cell;
    for (let ty = Math.floor(this.origin.y / side); ty * side < this.origin.y + height; ++ty) {
      for (let tx = Math.floor(this.origin.x / side); tx * side < this.origin.x + width; ++tx) {
        this.drawTile(context, ty, tx, left - this.origin.x + tx * side, top - this.origin.y + ty * side, side);
      }
    }
    if (this.level.cell >= 14) this.drawGaps(context);
    if (this.level.cell >= kNumbered) this.drawFigures(context);
    context.restore();
    this.drawAxes(context);
  }

  hidden(ty, tx) {
    const side = kTile * this.level.block;
    const [, end] = this.attention.visible(Math.min(this.count, (ty + 1) * side) - 1);
    const [begin] = this.attention.visible(ty * side);
    return tx * side >= end || Math.min(this.count, (tx + 1) * side) <= begin;
  }

  drawTile(context, ty, tx, x, y, side) {
    if (this.hidden(ty, tx)) return;
    const tile = this.tile(ty, tx);
    this.want(tile);
    this.paintTile(tile);
    const tokens = kTile * this.level.block;
    const columns = Math.ceil(Math.min(this.count - tx * tokens, tokens) / this.level.block);
    const rows = Math.min(tile.rows, Math.ceil(Math.min(this.count - ty * tokens, tokens) / this.level.block));
    const pixel = side / kTile;
    const [left, right, upper, lower] = [x, x + columns * pixel, y, y + rows * pixel].map((edge) => Math.round(edge * this.ratio) / this.ratio);
    if (tile.rows < kTile) this.drawStandIn(context, tile, left, lower);
    if (rows > 0) context.drawImage(tile.canvas, 0, 0, columns, rows, left, upper, right - left, lower - upper);
  }

  // The thumbnail where a tile's rows are not there yet.
  drawStandIn(context, tile, x, y) {
    const {block, cell} = this.level;
    const share = this.thumbnail.width / this.count;
    const row = (tile.ty * kTile + tile.rows) * block;
    const key = tile.tx * kTile * block;
    const rows = Math.min(this.count, (tile.ty + 1) * kTile * block) - row;
    const keys = Math.min(this.count - key, kTile * block);
    if (rows > 0) context.drawImage(this.thumbnail, key * share, row * share, keys * share, rows * share, x, y, keys * cell, rows * cell);
  }

  // Tokens in sight: [first, last].
  range(origin, room) {
    return [Math.floor(origin / this.level.cell), Math.min(this.count - 1, Math.ceil((origin + room) / this.level.cell) - 1)];
  }

  drawGaps(context) {
    const {left, top, width, height} = this.plot;
    const {cell} = this.level;
    context.fillStyle = this.theme.panel;
    const [firstRow, lastRow] = this.range(this.origin.y, height);
    const [firstKey, lastKey] = this.range(this.origin.x, width);
    for (let i = firstRow; i <= lastRow; ++i) context.fillRect(left, top - this.origin.y + (i + 1) * cell - 1, width, 1);
    for (let j = firstKey; j <= lastKey; ++j) context.fillRect(left - this.origin.x + (j + 1) * cell - 1, top, 1, height);
  }

  drawFigures(context) {
    const {left, top, width, height} = this.plot;
    const {cell, block} = this.level;
    const [firstRow, lastRow] = this.range(this.origin.y, height);
    const [firstKey, lastKey] = this.range(this.origin.x, width);
    context.font = kLabelFont;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let i = firstRow; i <= lastRow; ++i) {
      for (let j = firstKey; j <= lastKey; ++j) {
        const tile = this.tiles.get(`${this.head}:${block}:${Math.floor(i / kTile)}:${Math.floor(j / kTile)}`);
        if (tile === undefined || tile.rows <= i % kTile) continue;
        const weight = tile.weights[(i % kTile) * kTile + (j % kTile)];
        if (!(weight >= 0.005)) continue;
        context.fillStyle = this.scale.of(weight) >= this.turn ? this.theme.panel : this.theme.ink;
        const text = weight >= 0.995 ? "1" : weight.toFixed(2).slice(1);
        context.fillText(text, left - this.origin.x + (j + 0.5) * cell - 0.5, top - this.origin.y + (i + 0.5) * cell);
      }
    }
  }

  drawAxes(context) {
    const {left, top, width, height} = this.plot;
    this.drawGenerated(context);
    if (this.labelled) return this.drawLabels(context);
    context.font = kLabelFont;
    context.fillStyle = context.strokeStyle = this.theme.quiet;
    context.lineWidth = 1;
    const step = this.tickStep();
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const i of this.ticks(this.origin.y, height, step)) {
      const y = Math.round(top - this.origin.y + (i + 0.5) * this.level.cell) + 0.5;
      this.tick(context, left - 11, y, left - 7, y);
      context.fillText(plain(i), left - 14, Math.max(top + 4, y));
    }
    context.textBaseline = "alphabetic";
    for (const j of this.ticks(this.origin.x, width, step)) {
      const x = Math.round(left - this.origin.x + (j + 0.5) * this.level.cell) + 0.5;
      this.tick(context, x, top - 11, x, top - 7);
      if (x + context.measureText(plain(j)).width / 2 > this.size.width) continue;
      context.textAlign = j === 0 ? "left" : "center";
      context.fillText(plain(j), j === 0 ? x - 1 : x, top - 14);
    }
  }

  tick(context, x0, y0, x1, y1) {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  }

  tickStep() {
    for (let step = 1; ; step *= 10) {
      for (const factor of [1, 2, 5]) {
        if (step * factor * this.level.cell >= 56) return step * factor;
      }
    }
  }

  ticks(origin, room, step) {
    const [first, last] = this.range(origin, room);
    const all = [];
    for (let t = Math.ceil(first / step) * step; t <= last; t += step) all.push(t);
    return all;
  }

  // A bar beside every token that the model wrote.
  drawGenerated(context) {
    const {left, top, width, height} = this.plot;
    const {cell} = this.level;
    context.fillStyle = this.theme.made;
    for (const [begin, end] of this.generated) {
      const clip = (origin, room) => [Math.max(0, begin * cell - origin), Math.min(room, end * cell - origin)];
      const [y0, y1] = clip(this.origin.y, height);
      const [x0, x1] = clip(this.origin.x, width);
      if (y1 > y0) context.fillRect(left - 5, top + y0, 3, y1 - y0 - (cell >= 14 ? 1 : 0));
      if (x1 > x0) context.fillRect(left + x0, top - 5, x1 - x0 - (cell >= 14 ? 1 : 0), 3);
    }
  }

  made(token) {
    return this.generated.some(([begin, end]) => begin <= token && token < end);
  }

  // Rows at the left, keys at the top: upright where they fit, else turned.
  drawLabels(context) {
    const {left, top, width, height} = this.plot;
    const {cell} = this.level;
    const [firstRow, lastRow] = this.range(this.origin.y, height);
    const [firstKey, lastKey] = this.range(this.origin.x, width);
    context.font = kLabelFont;
    context.direction = "ltr";
    context.textBaseline = "middle";
    const colour = (token, active) => (active ? this.theme.ink : this.made(token) ? this.theme.made : this.theme.quiet);
    context.textAlign = "right";
    for (let i = firstRow; i <= lastRow; ++i) {
      const y = top - this.origin.y + (i + 0.5) * cell;
      if (y < top || y > top + height) continue;
      context.fillStyle = colour(i, false);
      context.fillText(this.labels[i], left - 10, y, left - 14);
    }
    const upright = this.labelling(this.level) === "upright";
    for (let j = firstKey; j <= lastKey; ++j) {
      const x = left - this.origin.x + (j + 0.5) * cell;
      if (x < left || x > left + width) continue;
      context.fillStyle = colour(j, false);
      context.save();
      context.translate(x, top - 10);
      if (!upright) context.rotate(-Math.PI / 2);
      context.textAlign = upright ? "center" : "left";
      context.textBaseline = upright ? "alphabetic" : "middle";
      context.fillText(this.labels[j], 0, 0, upright ? cell : top - 14);
      context.restore();
    }
  }

  // ---- the row and the key that are looked at

  mark(row, key) {
    this.row = row;
    this.key = key;
    this.drawMarks();
  }

  drawMarks() {
    if (this.levels === undefined) return;
    const context = this.marks.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    if (this.row === null) return;
    const plot = this.plot;
    const {left, top, width, height} = plot;
    const cell = this.level.cell;
    const down = (token) => top - this.origin.y + token * cell;
    const right = (token) => left - this.origin.x + token * cell;
    const [firstKey, lastKey] = this.attention.visible(this.row);
    const [firstRow, lastRow] = this.attention.seenBy(this.row);
    context.save();
    context.beginPath();
    context.rect(left - 1, top - 1, width + 2, height + 2);
    context.clip();
    if (cell >= 6) {
      context.lineWidth = 1.5;
      this.outline(context, this.theme.seen, right(this.row), down(firstRow), cell, (lastRow - firstRow) * cell);
      this.outline(context, this.theme.looks, right(firstKey), down(this.row), (lastKey - firstKey) * cell, cell);
      if (this.key !== null) this.outline(context, this.theme.ink, right(this.key), down(this.row), cell, cell);
    } else {
      context.globalAlpha = 0.8;
      context.fillStyle = this.theme.seen;
      context.fillRect(right(this.row) + cell / 2 - 0.5, down(firstRow), 1, (lastRow - firstRow) * cell);
      context.fillStyle = this.theme.looks;
      context.fillRect(right(firstKey), down(this.row) + cell / 2 - 0.5, (lastKey - firstKey) * cell, 1);
      if (this.key !== null) this.outline(context, this.theme.ink, right(this.key + 0.5) - 4, down(this.row + 0.5) - 4, 8, 8);
    }
    context.restore();
    this.drawFlag(context, plot, "row", down(this.row + 0.5), this.theme.looks);
    if (this.key !== null) this.drawFlag(context, plot, "key", right(this.key + 0.5), this.theme.ink);
  }

  outline(context, colour, x, y, width, height) {
    context.strokeStyle = colour;
    context.strokeRect(x - 0.5, y - 0.5, width, height);
  }

  // The marked token's name on its axis.
  drawFlag(context, plot, axis, at, colour) {
    const token = axis === "row" ? this.row : this.key;
    const room = axis === "row" ? plot.height : plot.width;
    const start = axis === "row" ? plot.top : plot.left;
    if (at < start || at > start + room) return;
    context.font = kLabelFont;
    context.direction = "ltr";
    const text = this.labelled ? this.labels[token] : plain(token);
    const depth = (axis === "row" ? plot.left : plot.top) - 8;
    const turned = axis === "key" && this.labelling(this.level) === "turned";
    const across = axis === "row" || turned ? 16 : Math.max(16, context.measureText(text).width + 8);
    const along = axis === "row" || turned ? Math.min(depth, context.measureText(text).width + 8) : 16;
    context.save();
    context.translate(axis === "row" ? plot.left - 6 : at, axis === "row" ? at : plot.top - 6);
    if (turned) context.rotate(-Math.PI / 2);
    const box = axis === "row" ? [-along, -8, along, 16] : turned ? [0, -across / 2, along, across] : [-across / 2, -16, across, 16];
    context.fillStyle = this.theme.panel;  // hides what stands beneath
    if (axis === "row") context.fillRect(-depth, -16, depth - 2, 32);
    if (axis === "key" && !this.labelled) context.fillRect(-across / 2 - 28, -22, across + 56, 17);
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(...box, 3);
    context.fill();
    context.fillStyle = this.theme.panel;
    context.textAlign = axis === "row" ? "right" : turned ? "left" : "center";
    context.textBaseline = "middle";
    context.fillText(text, axis === "row" ? -4 : turned ? 4 : 0, axis === "row" || turned ? 0.5 : -7.5, axis === "row" || turned ? along - 8 : undefined);
    context.restore();
  }

  // ---- pointer, wheel

  listen() {
    const element = this.element;
    let drag = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = {x: event.clientX, y: event.clientY, origin: this.origin, moved: false};
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (drag !== null) {
        drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
        if (drag.moved) {
          this.origin = {x: drag.origin.x + drag.x - event.clientX, y: drag.origin.y + drag.y - event.clientY};
          return this.settle();
        }
      }
      const at = this.levels === undefined ? null : this.tokenAt(event);
      if (at === null) return this.callbacks.leave();
      this.callbacks.hover(at.row, at.key, event);
    });
    element.addEventListener("pointerup", (event) => {
      const clicked = drag !== null && !drag.moved;
      drag = null;
      const at = clicked ? this.tokenAt(event) : null;
      if (at !== null) this.callbacks.pick(at.row, at.key);
    });
    element.addEventListener("pointercancel", () => (drag = null));
    element.addEventListener("pointerleave", () => this.callbacks.leave());
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      this.turned = (this.turned ?? 0) + event.deltaY;
      if (Math.abs(this.turned) < 40) return;
      this.zoom(this.turned < 0 ? 1 : -1, {x: event.clientX - box.left, y: event.clientY - box.top});
      this.turned = 0;
    }, {passive: false});
  }
}
