// Numbers as src/dikkat/inspect/page_floats.h stores them.

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// `count` floats: the largest exponent, 3 bytes of sign and fraction each, then the Rice code of each exponent's distance.
function floatsOf(id, count) {
  const bytes = bytesOf(id);
  const words = new Uint32Array(count);
  let at = 1 + 3 * count;
  let held = 0;
  let bits = 0;
  const bit = () => {
    if (held === 0) {
      bits = bytes[at++];
      held = 8;
    }
    return (bits >> --held) & 1;
  };
  for (let i = 0, p = 1; i < count; ++i, p += 3) {
    let ones = 0;
    while (ones < 16 && bit() === 1) ++ones;
    let distance = 0;
    if (ones < 16) {
      distance = 2 * ones + bit();
    } else {
      for (let b = 0; b < 8; ++b) distance = 2 * distance + bit();
    }
    const high = bytes[p];
    words[i] = ((high >> 7) << 31) | ((bytes[0] - distance) << 23) | ((high & 127) << 16) | (bytes[p + 1] << 8) | bytes[p + 2];
  }
  return new Float32Array(words.buffer);
}
