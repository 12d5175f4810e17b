# Makes series_*.json beside it: small models of series (models::SeriesModel), one for each pooling, over samples of unequal
# lengths: their outputs, loss and every gradient, in PyTorch with double precision and automatic differentiation. Norms,
# attention, MLP and positions are those of make_menu.py, on padded tensors with masks; pooling is written here.
#   logistic loss: -log sigma(z) for class 1, -log sigma(-z) for class 0;  squared error: (y - t)^2;  each the mean over the
#   samples that have a target
# Run: python3 tests/golden/make_series.py      (PyTorch 2; the files in the tree were made with 2.15.0)
import math

import torch

from make_menu import BASE, affine, body, make_body, write

BASE_SERIES = {**BASE, "task": "classify", "vocabulary": 0, "channels": 2, "outputs": 1, "context": 6}

SERIES = {
    "mean": {"outputs": 3, "width": 8, "heads": 2, "direction": "bidirectional", "norm-bias": True, "mlp-bias": True,
             "attention-bias": True, "output-bias": True},
    "class_token": {"task": "regress", "channels": 3, "width": 6, "heads": 3, "position": "sinusoidal", "placement": "post",
                    "activation": "swiglu", "direction": "bidirectional", "pooling": "class-token", "output-bias": True},
    "attention_query": {"channels": 3, "width": 3, "layers": 0, "heads": 2, "head-width": 2, "norm": "none",
                        "position": "none", "input": "raw", "pooling": "attention-query", "output-bias": True},
    "last": {"width": 10, "heads": 4, "kv-heads": 2, "head-width": 6, "norm": "rms", "position": "rotary", "window": 3,
             "pooling": "last"},
    "class_token_learned": {"width": 8, "heads": 2, "pooling": "class-token", "placement": "pre", "outputs": 4},
    "attention_query_blocks": {"channels": 1, "width": 7, "heads": 3, "head-width": 2, "layers": 1, "activation": "relu",
                               "task": "regress", "direction": "bidirectional", "pooling": "attention-query"},
}
LENGTHS = [4, 6, 1, 3, 5]


def make_parameters(c, draw):
    width = c["width"]
    heads, d = c["heads"], c["head-width"] or width // c["heads"]
    p = {}
    if c["input"] == "embedded":
        p["input.weight"] = draw(c["channels"], width)
    make_body({**c, "context": c["context"] + extra_rows(c)}, p, draw)
    pooled = width
    if c["pooling"] == "class-token":
        p["pooling.token"] = draw(width)
    if c["pooling"] == "attention-query":
        pooled = heads * d
        p["pooling.key_value.weight"] = draw(width, 2 * pooled)
        p["pooling.query"] = draw(pooled)
    p["output.weight"] = draw(pooled, c["outputs"])
    if c["output-bias"]:
        p["output.bias"] = draw(c["outputs"])
    return {path: value.requires_grad_() for path, value in p.items()}


def extra_rows(c):
    return 1 if c["pooling"] == "class-token" else 0


def pool(c, p, x, lengths):  # x (B, steps, C) -> (B, pooled)
    last = torch.tensor(lengths) - 1
    here = torch.arange(x.shape[1])[None, :] <= last[:, None]  # (B, steps)
    if c["pooling"] == "mean":
        return (x * here[..., None]).sum(1) / here.sum(1, keepdim=True)
    if c["pooling"] in ("last", "class-token"):
        return x[torch.arange(len(lengths)), last]
    heads, d = c["heads"], c["head-width"] or c["width"] // c["heads"]
    keys, values = (x @ p["pooling.key_value.weight"]).chunk(2, -1)
    keys = keys.unflatten(-1, (heads, d))
    values = values.unflatten(-1, (heads, d))
    scores = (keys * p["pooling.query"].view(heads, d)).sum(-1) / math.sqrt(d)  # (B, steps, heads)
    weights = torch.softmax(scores.masked_fill(~here[..., None], -math.inf), 1)
    return (weights[..., None] * values).sum(1).flatten(1)


def outputs_of(c, p, series):
    rows = [len(s) + extra_rows(c) for s in series]
    padded = torch.stack([torch.cat([s, torch.zeros(max(rows) - len(s), c["channels"])]) for s in series])
    x = affine(p, "input", padded) if c["input"] == "embedded" else padded
    if c["pooling"] == "class-token":
        place = torch.arange(max(rows))[None, :] == torch.tensor(rows)[:, None] - 1
        x = x + place[..., None] * p["pooling.token"]
    x = body({**c, "context": c["context"] + extra_rows(c)}, p, x, rows)
    return affine(p, "output", pool(c, p, x, rows))


def losses_of(c, outputs, targets):
    if c["task"] == "regress":
        return (outputs[:, 0] - targets) ** 2
    if c["outputs"] == 1:
        sign = 1 - 2 * targets
        return torch.log(1 + torch.exp(sign * outputs[:, 0]))
    return -torch.log_softmax(outputs, -1).gather(1, targets[:, None])[:, 0]


def make(name, changes, seed):
    c = {**BASE_SERIES, **changes}
    generator = torch.Generator().manual_seed(seed)
    p = make_parameters(c, lambda *shape: 0.4 * torch.randn(*shape, generator=generator))
    series = [torch.randn(length, c["channels"], generator=generator) for length in LENGTHS]
    if c["task"] == "regress":
        targets = torch.randn(len(series), generator=generator)
    else:
        targets = torch.randint(max(2, c["outputs"]), (len(series),), generator=generator)
    counted = torch.ones(len(series), dtype=torch.bool)
    counted[3] = c["task"] == "regress"  # a series without a class
    outputs = outputs_of(c, p, series)
    losses = losses_of(c, outputs, targets)
    loss = losses[counted].mean()
    loss.backward()
    write(f"series_{name}.json", {
        "origin": "made by tests/golden/make_series.py, PyTorch " + torch.__version__.split("+")[0] + ", float64",
        "config": c,
        "lengths": LENGTHS,
        "values": torch.cat(series).flatten().tolist(),
        "targets": [t if known else None for t, known in zip(targets.tolist(), counted.tolist())],
        "loss": loss.item(),
        "outputs": outputs.flatten().tolist(),
        "parameters": {path: value.detach().flatten().tolist() for path, value in p.items()},
        "gradients": {path: value.grad.flatten().tolist() for path, value in p.items()},
    })


for number, (name, changes) in enumerate(SERIES.items()):
    make(name, changes, 7100 + number)
