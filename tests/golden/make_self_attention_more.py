# Makes self_attention_more.json beside it:
#   seeds       the document's program (self_attention_published.py) run with other seeds than its 42: what it prints, and
#               the numbers behind it; among the seeds 0 and one of 40 digits (several entropy words)
#   multihead   torch.nn.MultiheadAttention in double with the lesson's weights: output, weights of each head and their mean,
#               without a mask and with the causal one
#   normals     draws of default_rng that pass through every branch of the ziggurat
# Run: python3 tests/golden/make_self_attention_more.py   (the file in the tree: Python 3.11.7, NumPy 2.4.6, PyTorch 2.15.0)
import contextlib
import io
import json
import os

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = open(os.path.join(HERE, "self_attention_published.py"), encoding="utf-8").read()
SEEDS = [0, 7, 2026, 1234567890123456789012345678901234567890]


def lists(array):
    return np.asarray(array).tolist()


def clear_of_ties(weights):
    """No printed digit and no heat-map level hangs on the last bits of a weight."""
    digits = np.abs(weights * 1000 - np.floor(weights * 1000) - 0.5).min()
    levels = weights * 4 / weights.max()
    levels = levels[weights < weights.max()]
    return bool(digits > 1e-9 and np.abs(levels - np.round(levels)).min() > 1e-9)


def published(seed):
    program = PROGRAM.replace("default_rng(42)", f"default_rng({seed})").replace("seed=42", f"seed={seed}")
    names = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "self_attention_published.py", "exec"), names)
    assert clear_of_ties(names["weights"])
    bits = np.random.default_rng(seed).bit_generator
    return {"seed": str(seed), "stdout": printed.getvalue(), "X": lists(names["X"]), "weights": lists(names["weights"]),
            "output": lists(names["output"]), "raw": [str(word) for word in bits.random_raw(4)],
            "state": [int(word) for word in np.random.SeedSequence(seed).generate_state(4)]}


def projections(variant, width, heads, seed):
    """Wq, Wk, Wv, Wo, each (width, width), columns of head i together."""
    scale = np.sqrt(2.0 / (width + width))
    if variant == "split":
        generator = np.random.default_rng(seed)
        return [generator.normal(0, scale, (width, width)) for _ in range(4)]
    part = width // heads
    each = []
    for head in range(heads):
        generator = np.random.default_rng(seed + head)
        each.append([generator.normal(0, np.sqrt(2.0 / (width + part)), (width, part)) for _ in range(3)])
    return [np.concatenate([one[i] for one in each], axis=1) for i in range(3)] + [
        np.random.default_rng(seed + heads).normal(0, scale, (width, width))]


def multihead(variant, width, heads, seed, mask):
    X = np.random.default_rng(seed).normal(0, 1, (6, width))
    q, k, v, o = projections(variant, width, heads, seed)
    module = torch.nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(np.concatenate([q.T, k.T, v.T])))
        module.out_proj.weight.copy_(torch.from_numpy(o.T.copy()))
        x = torch.from_numpy(X)[None]
        hidden = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1) if mask == "causal" else None
        output, each = module(x, x, x, attn_mask=hidden, average_attn_weights=False)
        again, mean = module(x, x, x, attn_mask=hidden)
        assert torch.equal(output, again)
    return {"variant": variant, "width": width, "heads": heads, "seed": seed, "mask": mask, "output": lists(output[0]),
            "head_weights": lists(each[0]), "mean_weights": lists(mean[0]),
            "shapes": [list(x.shape), list(output.shape), list(mean.shape)]}


def normals():
    draws = np.random.default_rng(2).standard_normal(400000)
    return {"seed": 2, "count": len(draws), "every": 4000, "sample": lists(draws[::4000]), "largest": float(draws.max()),
            "smallest": float(draws.min()), "beyond_r": int((np.abs(draws) > 3.6541528853610088).sum())}


CASES = [("split", 8, 2, 42), ("split", 8, 4, 7), ("split", 12, 3, 2026), ("split", 16, 1, 3), ("per-head", 8, 2, 42),
         ("per-head", 16, 4, 11)]
made = {"seeds": [published(seed) for seed in SEEDS],
        "multihead": [multihead(*case, mask) for case in CASES for mask in ("none", "causal")],
        "normals": normals()}
with open(os.path.join(HERE, "self_attention_more.json"), "w", encoding="utf-8") as file:
    json.dump(made, file, ensure_ascii=False, indent=1)
    file.write("\n")
