// Shades: a scale takes a weight to [0,1], a ramp takes that to a colour. Two ramps (blue: where it looks; amber: who looks
// at it) for each theme, light to dark or dark to light, so that more is always further from the paper.

const kRamps = {
  light: {
    looks: ["f1f5fa", "c6daee", "86b3db", "417fbd", "1b518f", "092650"],
    seen: ["fbf4ec", "f4dabd", "e8b079", "cc7a36", "92501b", "50280a"],
  },
  dark: {
    looks: ["1a2029", "1d3651", "255687", "3d85c6", "8cc2ee", "f0f9ff"],
    seen: ["231e19", "4a3119", "7e4d1d", "bd7628", "f0b36e", "fff4e3"],
  },
};

const kScales = [
  {name: "linear", of: (p) => p, at: (t) => t, ticks: [0, 0.5, 1]},
  {name: "root", of: (p) => Math.sqrt(p), at: (t) => t * t, ticks: [0, 0.1, 0.5, 1]},
  {name: "log", of: (p) => (p <= 1e-4 ? 0 : 1 + Math.log10(p) / 4), at: (t) => 10 ** (4 * t - 4), ticks: [1e-4, 0.001, 0.01, 0.1, 1]},
];

// 256 colours of a ramp: bytes r, g, b each.
function rampOf(theme, side) {
  const stops = kRamps[theme][side].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const bytes = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; ++i) {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; ++c) bytes[3 * i + c] = Math.round(stops[low][c] + (at - low) * (stops[low + 1][c] - stops[low][c]));
  }
  return bytes;
}

function colourAt(ramp, t) {
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, t)));
  return `rgb(${ramp[i]},${ramp[i + 1]},${ramp[i + 2]})`;
}

function luminance([r, g, b]) {
  const linear = (byte) => (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

// From which t on text of colour `beyond` stands out more from the ramp than text of colour `ink` (both #rrggbb; WCAG 2
// contrast).
function turnOf(ramp, ink, beyond) {
  const parse = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const inkLuminance = luminance(parse(ink));
  const beyondLuminance = luminance(parse(beyond));
  for (let i = 0; i < 256; ++i) {
    const here = luminance(ramp.subarray(3 * i, 3 * i + 3));
    if (contrast(here, beyondLuminance) > contrast(here, inkLuminance)) return i / 255;
  }
  return 1;
}

// Paints weights (negative or no number: nothing to see there) into RGBA bytes.
function paint(weights, scale, ramp, pixels) {
  for (let i = 0; i < weights.length; ++i) {
    const weight = weights[i];
    if (!(weight >= 0)) {
      pixels[4 * i + 3] = 0;
      continue;
    }
    const c = 3 * Math.round(255 * Math.min(1, scale.of(weight)));
    pixels[4 * i] = ramp[c];
    pixels[4 * i + 1] = ramp[c + 1];
    pixels[4 * i + 2] = ramp[c + 2];
    pixels[4 * i + 3] = 255;
  }
}

// The weights of a stored thumbnail (see src/dikkat/inspect/page_maps.h).
function thumbnailWeights(id) {
  const weights = new Float32Array(256);
  weights[0] = -1;
  for (let shade = 2; shade < 256; ++shade) weights[shade] = 10 ** (5 * ((shade - 1) / 254 - 1));
  return Float32Array.from(bytesOf(id), (shade) => weights[shade]);
}
