# Makes menu_*.json beside it: small language models out of the whole menu of models::Config, their logits, loss and every
# gradient, in PyTorch with double precision and automatic differentiation. Written from the published formulas on padded
# tensors with masks (the house packs rows and has no padding), so that only the mathematics is shared.
#   layer norm: Ba, Kiros, Hinton 2016; RMS norm: Zhang, Sennrich 2019; GELU: Hendrycks, Gimpel 2016; SwiGLU: Shazeer 2020;
#   sinusoids: Vaswani et al. 2017, 3.5; rotary: Su et al. 2021, half-split pairs; ALiBi: Press, Smith, Lewis 2022;
#   grouped keys and values: Ainslie et al. 2023
# Run: python3 tests/golden/make_menu.py      (PyTorch 2; the files in the tree were made with 2.15.0)
import json
import math
import os

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
NO_TARGET = -1

BASE = {
    "task": "next-token", "vocabulary": 11, "channels": 0, "outputs": 0, "context": 6, "width": 8, "layers": 2, "heads": 2, "kv-heads": 0, "head-width": 0, "mlp-width": 0,
    "norm": "layer", "norm-epsilon": 1e-5, "placement": "pre", "activation": "gelu", "position": "learned",
    "rotary-base": 10000.0, "direction": "causal", "window": 0,
    "input": "embedded", "pooling": "mean", "output": "tied", "norm-bias": False,
    "attention-bias": False, "mlp-bias": False, "output-bias": False, "residuals": "on", "dropout": 0.0,
    "attention-dropout": 0.0, "init": "gpt2",
}

MENU = {
    "learned": {"width": 8, "heads": 3, "head-width": 5, "mlp-width": 13, "norm-bias": True, "attention-bias": True,
                "mlp-bias": True},
    "sinusoidal": {"position": "sinusoidal", "width": 9, "heads": 3, "activation": "relu", "norm-epsilon": 1e-3,
                   "direction": "bidirectional", "window": 2, "output": "free", "mlp-bias": True, "output-bias": True,
                   "residuals": "off", "init": "book"},
    "sinusoidal_one": {"position": "sinusoidal_one", "norm": "rms", "placement": "post", "activation": "gelu_tanh",
                       "width": 6, "heads": 2, "kv-heads": 1, "norm-bias": True, "output-bias": True},
    "rotary": {"position": "rotary", "norm": "rms", "activation": "silu", "width": 10, "heads": 4, "kv-heads": 2,
               "head-width": 6, "window": 3, "output": "free", "attention-bias": True, "rotary-base": 500.0,
               "mlp-width": 9},
    "alibi": {"position": "alibi", "norm": "none", "activation": "swiglu", "width": 7, "heads": 6, "kv-heads": 1,
              "head-width": 1, "mlp-width": 5, "direction": "bidirectional", "mlp-bias": True},
    "no_position": {"position": "none", "placement": "post", "activation": "swiglu", "width": 8, "heads": 4,
                    "kv-heads": 4, "output": "free", "norm-bias": True, "attention-bias": True, "layers": 3},
}
LENGTHS = [4, 6, 1, 3]


def sizes(c):
    heads, groups = c["heads"], c["kv-heads"] or c["heads"]
    return heads, groups, c["head-width"] or c["width"] // heads, c["mlp-width"] or 4 * c["width"]


def make_body(c, p, draw):  # everything between the embedding and the output
    heads, groups, d, inner = sizes(c)
    width = c["width"]
    joint = (heads + 2 * groups) * d
    up = 2 * inner if c["activation"] == "swiglu" else inner
    if c["position"] == "learned":
        p["position_embedding.weight"] = draw(c["context"], width)

    def norm(path):
        if c["norm"] == "none":
            return
        p[path + ".gain"] = 1 + draw(width)
        if c["norm-bias"] and c["norm"] == "layer":
            p[path + ".bias"] = draw(width)

    def linear(path, rows, columns, bias):
        p[path + ".weight"] = draw(rows, columns)
        if bias:
            p[path + ".bias"] = draw(columns)

    for i in range(c["layers"]):
        block = f"blocks.{i}"
        norm(block + ".norm1")
        linear(block + ".attention.qkv", width, joint, c["attention-bias"])
        linear(block + ".attention.output", heads * d, width, c["attention-bias"])
        norm(block + ".norm2")
        linear(block + ".mlp.up", width, up, c["mlp-bias"])
        linear(block + ".mlp.down", inner, width, c["mlp-bias"])
    if c["placement"] == "pre":
        norm("final_norm")


def make_parameters(c, draw):
    p = {"token_embedding.weight": draw(c["vocabulary"], c["width"])}
    make_body(c, p, draw)
    if c["output"] == "free":
        p["output.weight"] = draw(c["width"], c["vocabulary"])
    if c["output-bias"]:
        p["output.bias"] = draw(c["vocabulary"])
    return {path: value.requires_grad_() for path, value in p.items()}


def normalise(c, p, path, x):
    if c["norm"] == "none":
        return x
    if c["norm"] == "layer":
        mean = x.mean(-1, keepdim=True)
        x = (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + c["norm-epsilon"])
    else:
        x = x / torch.sqrt((x * x).mean(-1, keepdim=True) + c["norm-epsilon"])
    x = x * p[path + ".gain"]
    return x + p[path + ".bias"] if path + ".bias" in p else x


def affine(p, path, x):
    y = x @ p[path + ".weight"]
    return y + p[path + ".bias"] if path + ".bias" in p else y


def sinusoids(c):
    table = torch.zeros(c["context"], c["width"])
    for t in range(c["context"]):
        for i in range(c["width"]):
            angle = t / 10000 ** (2 * (i // 2) / c["width"])
            table[t, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
    return table


def one_sinusoid(c):
    table = torch.zeros(c["context"], c["width"])
    for t in range(c["context"]):
        table[t, 0] = math.sin(math.pi * t / (c["context"] - 1))
        table[t, 1] = math.cos(math.pi * t / (c["context"] - 1))
    return table


def rotated(c, x):  # x (B, heads, T, D)
    half = x.shape[-1] // 2
    frequency = torch.tensor([c["rotary-base"] ** (-2 * i / x.shape[-1]) for i in range(half)])
    angle = torch.arange(x.shape[2])[:, None] * frequency
    rotation = torch.polar(torch.ones_like(angle), angle)  # a pair is a complex number, turned by e^(i angle)
    turned = torch.complex(x[..., :half], x[..., half:]) * rotation
    return torch.cat([turned.real, turned.imag], -1)


def alibi_slopes(heads):
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))  # as the paper's own program has it
        return [start * start ** i for i in range(n)]

    if math.log2(heads).is_integer():
        return of_power(heads)
    below = 2 ** math.floor(math.log2(heads))
    return of_power(below) + alibi_slopes(2 * below)[0::2][:heads - below]


def attention(c, p, path, x, lengths):
    heads, groups, d, _ = sizes(c)
    batch, steps, _ = x.shape
    q, k, v = torch.split(affine(p, path + ".qkv", x), [heads * d, groups * d, groups * d], -1)
    q = q.view(batch, steps, heads, d).transpose(1, 2)
    k = k.view(batch, steps, groups, d).transpose(1, 2)
    v = v.view(batch, steps, groups, d).transpose(1, 2)
    if c["position"] == "rotary":
        q, k = rotated(c, q), rotated(c, k)
    k = k.repeat_interleave(heads // groups, 1)
    v = v.repeat_interleave(heads // groups, 1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(d)
    i, j = torch.arange(steps)[:, None], torch.arange(steps)[None, :]
    if c["position"] == "alibi":
        scores = scores - torch.tensor(alibi_slopes(heads))[:, None, None] * (i - j).abs()
    seen = torch.ones(steps, steps, dtype=torch.bool)
    if c["direction"] == "causal":
        seen = seen & (j <= i)
    if c["window"]:
        seen = seen & ((i - j).abs() < c["window"])
    real = (j < torch.tensor(lengths)[:, None, None])[:, None] | (i == j)  # a padded row looks at itself, unused
    scores = scores.masked_fill(~(seen & real), -math.inf)
    mixed = torch.softmax(scores, -1) @ v
    return affine(p, path + ".output", mixed.transpose(1, 2).reshape(batch, steps, heads * d))


def mlp(c, p, path, x):
    x = affine(p, path + ".up", x)
    kind = c["activation"]
    if kind == "relu":
        x = torch.clamp(x, min=0)
    elif kind == "gelu":
        x = x * (1 + torch.erf(x / math.sqrt(2))) / 2
    elif kind == "gelu_tanh":
        x = x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    elif kind == "silu":
        x = x * torch.sigmoid(x)
    else:
        gate, value = x.chunk(2, -1)
        x = gate * torch.sigmoid(gate) * value
    return affine(p, path + ".down", x)


def body(c, p, x, lengths):
    steps = x.shape[1]
    if c["position"] == "learned":
        x = x + p["position_embedding.weight"][:steps]
    elif c["position"] == "sinusoidal":
        x = x + sinusoids(c)[:steps]
    elif c["position"] == "sinusoidal_one":
        x = x + one_sinusoid(c)[:steps]

    def sublayer(norm, apply, x):
        keep = x if c["residuals"] == "on" else 0
        if c["placement"] == "pre":
            return keep + apply(normalise(c, p, norm, x))
        return normalise(c, p, norm, keep + apply(x))

    for i in range(c["layers"]):
        block = f"blocks.{i}"
        x = sublayer(block + ".norm1", lambda y: attention(c, p, block + ".attention", y, lengths), x)
        x = sublayer(block + ".norm2", lambda y: mlp(c, p, block + ".mlp", y), x)
    if c["placement"] == "pre":
        x = normalise(c, p, "final_norm", x)
    return x


def logits_of(c, p, tokens, lengths):
    x = body(c, p, p["token_embedding.weight"][tokens], lengths)
    out = affine(p, "output", x) if c["output"] == "free" else x @ p["token_embedding.weight"].T
    return out + p["output.bias"] if c["output-bias"] and c["output"] == "tied" else out


def make(name, changes, seed):
    c = {**BASE, **changes}
    generator = torch.Generator().manual_seed(seed)
    p = make_parameters(c, lambda *shape: 0.4 * torch.randn(*shape, generator=generator))
    ids = torch.randint(c["vocabulary"], (len(LENGTHS), c["context"] + 1), generator=generator)
    tokens, targets = ids[:, :-1], ids[:, 1:].clone()
    valid = torch.arange(c["context"])[None, :] < torch.tensor(LENGTHS)[:, None]
    targets[1, 2] = NO_TARGET  # a row that is there but has no target

    logits = logits_of(c, p, tokens, LENGTHS)[valid]
    wanted = targets[valid]
    counted = wanted != NO_TARGET
    chances = torch.log_softmax(logits[counted], -1)
    loss = -chances.gather(1, wanted[counted][:, None]).mean()
    loss.backward()
    golden = {
        "origin": "made by tests/golden/make_menu.py, PyTorch " + torch.__version__.split("+")[0] + ", float64",
        "config": c,
        "lengths": LENGTHS,
        "tokens": tokens[valid].tolist(),
        "targets": [int(t) if t >= 0 else None for t in wanted],
        "loss": loss.item(),
        "logits": logits.flatten().tolist(),
        "parameters": {path: value.detach().flatten().tolist() for path, value in p.items()},
        "gradients": {path: value.grad.flatten().tolist() for path, value in p.items()},
    }
    write(f"menu_{name}.json", golden)


def write(name, golden):
    with open(os.path.join(HERE, name), "w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items()) + "\n}\n")


if __name__ == "__main__":
    for number, (name, changes) in enumerate(MENU.items()):
        make(name, changes, 7000 + number)
