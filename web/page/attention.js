// The weights, computed from q, k, m and Z as the forward pass did (src/dikkat/kernels/attention.h): scores in 32-bit
// floats, one chain over the width; exp in double.

const fround = Math.fround;

// out[n] = chain over d of a[at + d] * b[from + n * width + d], for n < count. Four chains at a time, each in order.
function scores(a, at, b, from, count, width, out) {
  let n = 0;
  for (; n + 4 <= count; n += 4) {
    let b0 = from + n * width;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let d = 0; d < width; ++d, ++b0) {
      const x = a[at + d];
      s0 = fround(s0 + x * b[b0]);
      s1 = fround(s1 + x * b[b0 + width]);
      s2 = fround(s2 + x * b[b0 + 2 * width]);
      s3 = fround(s3 + x * b[b0 + 3 * width]);
    }
    out[n] = s0;
    out[n + 1] = s1;
    out[n + 2] = s2;
    out[n + 3] = s3;
  }
  for (; n < count; ++n) {
    let s = 0;
    for (let d = 0; d < width; ++d) s = fround(s + a[at + d] * b[from + n * width + d]);
    out[n] = s;
  }
}

class Attention {
  constructor(facts) {
    this.tokens = facts.tokens.length;
    this.width = facts.width;
    this.scale = facts.scale;
    this.causal = facts.mask.causal;
    this.window = facts.mask.window;
    this.heads = new Map();
    this.scratch = new Float32Array(this.tokens);
  }

  // The numbers of one head, read when it is first looked at; the last 24 are kept.
  head(layer, head) {
    const id = `${layer.number}-${head.number}`;
    let numbers = this.heads.get(id);
    if (numbers === undefined) {
      const keys = `${layer.number}-${head.group}`;
      const sibling = [...this.heads.values()].find((other) => other.keys === keys);
      numbers = {
        keys,
        q: floatsOf(`q-${id}`, this.tokens * this.width),
        k: sibling?.k ?? floatsOf(`k-${keys}`, this.tokens * this.width),
        max: floatsOf(`m-${id}`, this.tokens),
        sum: floatsOf(`z-${id}`, this.tokens),
        slope: head.slope ?? null,
      };
      if (this.heads.size >= 24) this.heads.delete(this.heads.keys().next().value);
      this.heads.set(id, numbers);
    }
    return numbers;
  }

  // Keys that row i sees: [begin, end).
  visible(i) {
    const begin = this.window === 0 ? 0 : Math.max(0, i + 1 - this.window);
    const end = this.causal ? i + 1 : this.tokens;
    return [begin, this.window === 0 ? end : Math.min(end, i + this.window)];
  }

  // Rows that see key j: [begin, end).
  seenBy(j) {
    const begin = this.causal ? j : this.window === 0 ? 0 : Math.max(0, j + 1 - this.window);
    return [begin, this.window === 0 ? this.tokens : Math.min(this.tokens, j + this.window)];
  }

  weight(numbers, i, j, score) {
    if (numbers.sum[i] === 0) return 0;
    let s = fround(score * this.scale);
    if (numbers.slope !== null) s = fround(s + numbers.slope * -Math.abs(i - j));
    return Math.exp(fround(s - numbers.max[i])) / numbers.sum[i];
  }

  // out[j - from] = the weight of row i on key j for from <= j < to; -1 where it sees nothing.
  row(numbers, i, from, to, out) {
    out.fill(-1, 0, to - from);
    const [begin, end] = this.visible(i);
    const first = Math.max(from, begin);
    const count = Math.min(to, end) - first;
    if (count <= 0) return;
    scores(numbers.q, i * this.width, numbers.k, first * this.width, count, this.width, this.scratch);
    for (let n = 0; n < count; ++n) out[first - from + n] = this.weight(numbers, i, first + n, this.scratch[n]);
  }

  // out[i] = the weight of row i on key j, for all rows.
  column(numbers, j, out) {
    out.fill(-1);
    const [begin, end] = this.seenBy(j);
    scores(numbers.k, j * this.width, numbers.q, begin * this.width, end - begin, this.width, this.scratch);
    for (let i = begin; i < end; ++i) out[i] = this.weight(numbers, i, j, this.scratch[i - begin]);
  }
}
