// Thumbnails of all heads: layers in rows, heads in columns. One tab stop; arrow keys choose.

class Overview {
  constructor(element, layers, choose) {
    this.cells = [];  // by layer, then head: {button, canvas, weights}
    const columns = [...new Set(layers.flatMap((layer) => layer.heads.map((head) => head.number)))].sort((a, b) => a - b);
    element.parentElement.parentElement.style.setProperty("--columns", columns.length);  // the layout gives them room
    element.append(this.headings(columns));
    layers.forEach((layer, l) => {
      const row = document.createElement("div");
      row.setAttribute("role", "row");
      row.append(this.heading("rowheader", layer.number));
      const cells = layer.heads.map((head, h) => this.cell(layer, head, columns.indexOf(head.number), () => choose(l, h)));
      for (const cell of cells) row.append(cell.button);
      this.cells.push(cells);
      element.append(row);
    });
    element.addEventListener("keydown", (event) => this.key(event, choose));
  }

  headings(columns) {
    const row = document.createElement("div");
    row.setAttribute("role", "row");
    row.append(this.heading("columnheader", ""));
    for (const column of columns) row.append(this.heading("columnheader", column));
    return row;
  }

  heading(role, text) {
    const heading = document.createElement("span");
    heading.setAttribute("role", role);
    heading.textContent = text;
    return heading;
  }

  cell(layer, head, column, choose) {
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    button.setAttribute("role", "gridcell");
    button.setAttribute("aria-label", `Layer ${layer.number}, head ${head.number}`);
    button.style.gridColumn = column + 2;
    button.addEventListener("click", choose);
    const weights = thumbnailWeights(`thumbnail-${layer.number}-${head.number}`);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = Math.sqrt(weights.length);
    canvas.className = canvas.width < 64 ? "sharp" : "";
    const mean = document.createElement("span");
    mean.className = "mean";
    mean.hidden = true;
    mean.append(document.createElement("b"));
    button.append(canvas, mean);
    return {button, canvas, weights, mean};
  }

  // A bar under each head: values (layers, heads) as shares of `whole`; null: none.
  compare(values, whole) {
    this.cells.forEach((cells, l) =>
      cells.forEach(({mean}, h) => {
        mean.hidden = values === null;
        if (values !== null) mean.firstChild.style.inlineSize = `${(100 * (values[l][h] ?? 0)) / whole}%`;
      }),
    );
  }

  paint(scale, ramp) {
    for (const {canvas, weights} of this.cells.flat()) {
      const pixels = new ImageData(canvas.width, canvas.height);
      paint(weights, scale, ramp, pixels.data);
      canvas.getContext("2d").putImageData(pixels, 0, 0);
    }
  }

  select(layer, head) {
    this.layer = layer;
    this.head = head;
    this.cells.forEach((cells, l) =>
      cells.forEach(({button}, h) => {
        const chosen = l === layer && h === head;
        button.tabIndex = chosen ? 0 : -1;
        button.setAttribute("aria-selected", chosen);
      }),
    );
  }

  key(event, choose) {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const layer = Math.min(this.cells.length - 1, Math.max(0, this.layer + step[0]));
    const head = Math.min(this.cells[layer].length - 1, Math.max(0, this.head + step[1]));
    choose(layer, head);
    this.cells[layer][head].button.focus();
  }
}
