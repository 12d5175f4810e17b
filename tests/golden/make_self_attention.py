# Makes self_attention_expected.json beside it: everything that the lesson on self-attention shows, from NumPy alone, at full
# precision. It runs the document's own program (self_attention_published.py) and adds its exercises.
# Run: python3 tests/golden/make_self_attention.py      (the file in the tree was made with Python 3.11.2, NumPy 1.24.2)
import io, json, os, contextlib, platform
import numpy as np
here = os.path.dirname(os.path.abspath(__file__))
ns = {}
buf = io.StringIO()
with contextlib.redirect_stdout(buf):
    exec(compile(open(os.path.join(here, "self_attention_published.py"), encoding="utf-8").read(), "lesson", "exec"), ns)
softmax, SelfAttention = ns["softmax"], ns["SelfAttention"]
NEG = -np.inf
L = lambda a: np.asarray(a).tolist()

def attend(Q, K, V, mask=None):
    s = Q @ K.T / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = s + mask
    w = softmax(s)
    return w @ V, w, s

def pure_attend(Q, K, V, mask=None):
    """the same with plain left-to-right loops (no BLAS), to size the last-bit freedom"""
    n, m, d, e = len(Q), len(K), len(Q[0]), len(V[0])
    w = []
    for i in range(n):
        r = []
        for j in range(m):
            t = 0.0
            for k in range(d):
                t += Q[i][k] * K[j][k]
            r.append(t / float(np.sqrt(d)) + (mask[i][j] if mask is not None else 0.0))
        mx = max(r)
        ex = [float(np.exp(v - mx)) for v in r]
        z = 0.0
        for v in ex:
            z += v
        w.append([v / z for v in ex])
    return w

def table(w, tokens):
    out = "".join([f"{'':>6}"] + [f"{t:>6}" for t in tokens]) + "\n"
    for i, t in enumerate(tokens):
        out += f"{t:>6}" + "".join(f"{w[i][j]:6.3f}" for j in range(len(tokens))) + "\n"
    return out

def heat(w, tokens, chars=" ░▒▓█"):
    out = "".join([f"{'':>6}"] + [f"{t:>6}" for t in tokens]) + "\n"
    levels = []
    for i, t in enumerate(tokens):
        out += f"{t:>6}"
        levels.append([])
        for j in range(len(tokens)):
            lv = min(int(w[i][j] * (len(chars) - 1) / w.max()), len(chars) - 1)
            levels[-1].append(lv)
            out += "  " + chars[lv] + "   "
        out += "\n"
    return out, levels

tok = ns["sentence"]
X, attn = ns["X"], ns["attn"]
Q, K, V = X @ attn.Wq, X @ attn.Wk, X @ attn.Wv
out, w, s = attend(Q, K, V)
assert np.array_equal(w, ns["weights"]) and np.array_equal(out, ns["output"])
pw = np.array(pure_attend(L(Q), L(K), L(V)))
h, lv = heat(w, tok)
J = {"numpy": np.__version__, "python": platform.python_version(),
     "stdout": buf.getvalue(),
     "softmax_demo": {"logits": [2.0, 1.0, 0.1], "probs": L(softmax(np.array([2.0, 1.0, 0.1])))},
     "softmax_large": {"logits": [100.0, 200.0, 300.0], "probs": L(softmax(np.array([100.0, 200.0, 300.0])))},
     "doc_illustration": {"scores_q1": [2.1, 0.3, 0.1, 0.8, 0.2],
                          "weights_printed_in_document": [0.52, 0.09, 0.07, 0.14, 0.08],
                          "weights_correct": L(softmax(np.array([2.1, 0.3, 0.1, 0.8, 0.2]))),
                          "scores_5x5": [[2.1,.3,.1,.8,.2],[.4,1.9,.7,.1,.3],[.2,.6,2.3,.5,.1],[.9,.1,.4,1.7,.6],[.1,.3,.2,.5,2.0]],
                          "weights_5x5": L(softmax(np.array([[2.1,.3,.1,.8,.2],[.4,1.9,.7,.1,.3],[.2,.6,2.3,.5,.1],[.9,.1,.4,1.7,.6],[.1,.3,.2,.5,2.0]])))},
     "rng": {"default_rng_42_standard_normal_100": L(np.random.default_rng(42).standard_normal(100)),
             "default_rng_42_uint64_8": [int(v) for v in np.random.default_rng(42).bit_generator.random_raw(8)],
             "default_rng_42_double_8": L(np.random.default_rng(42).random(8)),
             "default_rng_42_normal_1e6_sum": float(np.random.default_rng(42).standard_normal(1000000).sum()),
             "pcg64_state_seed42": {k: str(v) for k, v in np.random.PCG64(42).state["state"].items()},
             "seedsequence_42_generate_state_8_u32": [int(v) for v in np.random.SeedSequence(42).generate_state(8)]},
     "base": {"tokens": tok, "d_model": 8, "dk": 4, "dv": 4, "seed": 42,
              "X": L(X), "Wq": L(attn.Wq), "Wk": L(attn.Wk), "Wv": L(attn.Wv),
              "Q": L(Q), "K": L(K), "V": L(V), "scores": L(s), "weights": L(w), "output": L(out),
              "weights_3dp": table(w, tok), "heatmap": h, "heatmap_levels": lv,
              "row_sums": L(w.sum(1)), "max_abs_diff_blas_vs_plain_loops": float(abs(w - pw).max()),
              "X_first32_times_scale_equals_Wq": bool(np.array_equal(X.ravel()[:32] * np.sqrt(2.0 / 12), attn.Wq.ravel()))}}
# exercise 1: mask added to the scores before softmax
mask = np.triu(np.full((6, 6), NEG), k=1)
co, cw, cs = attend(Q, K, V, mask)
ch, cl = heat(cw, tok)
J["causal"] = {"mask": "-inf above the diagonal", "weights": L(cw), "output": L(co), "weights_3dp": table(cw, tok), "heatmap": ch, "heatmap_levels": cl,
               "max_above_diagonal": float(np.triu(cw, 1).max()), "row0_is_v0": bool(np.array_equal(co[0], V[0]))}
fin = np.triu(np.full((6, 6), -1e9), k=1)
J["causal"]["same_with_minus_1e9"] = bool(np.array_equal(attend(Q, K, V, fin)[1], cw))
# no scaling, to show saturation
_, uw, _ = (lambda s: (None, softmax(s), s))(Q @ K.T)
ent = lambda w: float(-(w * np.log(w)).sum(1).mean())
J["scaling"] = {"unscaled_weights": L(uw), "mean_row_entropy_scaled": ent(w), "mean_row_entropy_unscaled": ent(uw)}
rs = np.random.default_rng(0)
sat = {}
for dk in (1, 4, 16, 64, 256, 1024):
    q = rs.standard_normal((2000, dk)); k = rs.standard_normal((8, dk))
    sc = q @ k.T
    sat[dk] = {"std_raw": float(sc.std()), "std_scaled": float((sc / np.sqrt(dk)).std()),
               "mean_max_weight_raw": float(softmax(sc).max(1).mean()), "mean_max_weight_scaled": float(softmax(sc / np.sqrt(dk)).max(1).mean())}
J["scaling"]["synthetic_n8_keys_rng0"] = sat
# exercise 2: multi-head, n_heads=2
def split_variant(X, d, H, seed, mask=None):
    """one (d,d) Wq,Wk,Wv and Wo drawn in that order from default_rng(seed), Xavier-like scale sqrt(2/(2d)); Q,K,V cut in H column chunks"""
    r = np.random.default_rng(seed); sc = np.sqrt(2.0 / (d + d))
    Wq, Wk, Wv, Wo = (r.normal(0, sc, (d, d)) for _ in range(4))
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    c = d // H
    os_, ws = zip(*[attend(Q[:, i*c:(i+1)*c], K[:, i*c:(i+1)*c], V[:, i*c:(i+1)*c], mask)[:2] for i in range(H)])
    cat = np.concatenate(os_, axis=-1)
    return {"init": "default_rng(seed): Wq, Wk, Wv, Wo in that order, normal(0, sqrt(2/(2d)))", "d_model": d, "n_heads": H, "seed": seed,
            "Wq": L(Wq), "Wk": L(Wk), "Wv": L(Wv), "Wo": L(Wo), "head_weights": [L(a) for a in ws], "head_weights_3dp": [table(a, tok) for a in ws],
            "concat": L(cat), "output": L(cat @ Wo)}
def per_head_variant(X, d, H, seed, mask=None):
    """H separate SelfAttention(d, d/H, d/H, seed+i); Wo from default_rng(seed+H), scale sqrt(2/(2d))"""
    heads = [SelfAttention(d, d // H, d // H, seed=seed + i) for i in range(H)]
    Wo = np.random.default_rng(seed + H).normal(0, np.sqrt(2.0 / (d + d)), (d, d))
    os_, ws = zip(*[attend(X @ a.Wq, X @ a.Wk, X @ a.Wv, mask)[:2] for a in heads])
    cat = np.concatenate(os_, axis=-1)
    return {"init": "head i: SelfAttention seed+i; Wo: default_rng(seed+n_heads), normal(0, sqrt(2/(2d)))", "d_model": d, "n_heads": H, "seed": seed, "Wo": L(Wo),
            "head_weights": [L(a) for a in ws], "head_weights_3dp": [table(a, tok) for a in ws], "concat": L(cat), "output": L(cat @ Wo)}
J["multihead_split"] = split_variant(X, 8, 2, 42)
J["multihead_split_causal"] = split_variant(X, 8, 2, 42, mask)
J["multihead_per_head"] = per_head_variant(X, 8, 2, 42)
J["multihead_per_head_causal"] = per_head_variant(X, 8, 2, 42, mask)
J["multihead_split_H1_equals_single"] = bool(np.allclose(split_variant(X, 8, 1, 42)["concat"], attend(X @ np.array(J["multihead_split"]["Wq"]), X @ np.array(J["multihead_split"]["Wk"]), X @ np.array(J["multihead_split"]["Wv"]))[0], atol=0, rtol=0))
# the published lesson script's own sizes (d_model 16, dk = dv = 8, n_heads 2)
X16 = np.random.default_rng(42).normal(0, 1, (6, 16)); a16 = SelfAttention(16, 8, 8, seed=42)
o16, w16 = a16.forward(X16); h16, l16 = heat(w16, tok)
J["published_script_d16"] = {"X": L(X16), "weights": L(w16), "weights_3dp": table(w16, tok), "heatmap": h16, "heatmap_levels": l16, "output": L(o16),
                             "multihead_per_head": per_head_variant(X16, 16, 2, 42)}
# exercise 3: two sentences of equal length through one instance
B = ["A", "dog", "ran", "in", "the", "park"]
XB = np.random.default_rng(7).normal(0, 1, (6, 8))
ob, wb = attn.forward(XB); hb, lb = heat(wb, B)
perm = [4, 1, 2, 3, 0, 5]
op, wp = attn.forward(X[perm])
J["two_sentences"] = {"A": {"tokens": tok, "X": "default_rng(42).normal(0,1,(6,8))", "weights": L(w)},
                      "B": {"tokens": B, "X": "default_rng(7).normal(0,1,(6,8))", "Xvalues": L(XB), "weights": L(wb), "output": L(ob), "weights_3dp": table(wb, B), "heatmap": hb, "heatmap_levels": lb},
                      "compare": {"mean_abs_weight_diff": float(abs(w - wb).mean()), "max_abs_weight_diff": float(abs(w - wb).max()),
                                  "row_sums_equal_1": bool(np.allclose(w.sum(1), 1) and np.allclose(wb.sum(1), 1)),
                                  "argmax_A": L(w.argmax(1)), "argmax_B": L(wb.argmax(1))},
                      "permuted_A": {"perm": perm, "tokens": [tok[i] for i in perm], "weights": L(wp),
                                     "equals_permuted_weights_max_abs": float(abs(wp - w[np.ix_(perm, perm)]).max()),
                                     "output_equals_permuted_max_abs": float(abs(op - out[perm]).max())}}
json.dump(J, open(os.path.join(here, "self_attention_expected.json"), "w"), ensure_ascii=False, indent=1)
for k in ("base", "causal"):
    print(k); print(J[k]["weights_3dp"]); print(J[k]["heatmap"])
for k in ("multihead_split", "multihead_per_head"):
    print(k)
    for t in J[k]["head_weights_3dp"]: print(t)
    print(np.array(J[k]["output"]).round(3))
print(J["two_sentences"]["B"]["weights_3dp"]); print(J["two_sentences"]["B"]["heatmap"]); print(J["two_sentences"]["compare"]); print(J["two_sentences"]["permuted_A"]["equals_permuted_weights_max_abs"], J["two_sentences"]["permuted_A"]["output_equals_permuted_max_abs"])
print(J["doc_illustration"]["weights_correct"], J["base"]["max_abs_diff_blas_vs_plain_loops"], J["base"]["X_first32_times_scale_equals_Wq"], J["causal"]["row0_is_v0"], J["causal"]["same_with_minus_1e9"], J["multihead_split_H1_equals_single"])
print(J["scaling"]["mean_row_entropy_scaled"], J["scaling"]["mean_row_entropy_unscaled"]); print(json.dumps(sat, indent=0))
