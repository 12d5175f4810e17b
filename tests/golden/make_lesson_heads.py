# Makes the goldens of dikkat lesson heads, all from the document's program (lesson_heads_published.py beside it):
#   lesson_heads_published.out  what it prints
#   lesson_heads_py312.json     every number behind that: series, start and trained parameters, logits, probabilities, ...
#   lesson_heads_more.json      what it prints when its constants TOHUM, tur (also in the line that prints it) and DTOP are
#                               edited: one of them alone, two, all three; a seed at the end of 32 bits
# Python's sum() of floats is compensated from 3.12 on (3.11's differs in the last bits, and with it "identical to the bit"
# of the order test fails), so run it with 3.12 or later. The files in the tree: Python 3.12.1 (the .json: 3.12, Debian).
# Run: python3.12 tests/golden/make_lesson_heads.py FOLDER
import contextlib
import io
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = open(os.path.join(HERE, "lesson_heads_published.py"), encoding="utf-8").read()
MORE = [(7, 150, 4), (20260218, 40, 4), (20260218, 60, 8), (123456789, 120, 8), (4294967295, 25, 12), (0, 1, 4),
        (2026, 300, 4)]


def replaced(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def run(seed=20260218, epochs=150, width=4):
    text = replaced(PROGRAM, "TOHUM, M32, ADIM = 20260218,", f"TOHUM, M32, ADIM = {seed},")
    text = replaced(text, "EG, tur=150,", f"EG, tur={epochs},")
    text = replaced(text, "tur 150,", f"tur {epochs},")
    text = replaced(text, "DTOP, DIN = 4, 3", f"DTOP, DIN = {width}, 3")
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "document", "exec"), names)
    return names, printed.getvalue()


def parameters(P):
    return {k: P[k] for k in ("Wk", "Wv", "q", "w", "b")}


def mean_loss(g, P, G):
    losses = [math.log1p(math.exp(-o if y else o)) for o, y in ((g["ileri"](P, X), y) for X, y in G)]
    total = 0.0
    for loss in losses:
        total += loss
    return total / len(G)


def run_of(g, name, heads, k, P, test, train):
    logits = [g["ileri"](P, X) for X, _ in test]
    probs = [g["olasilik"](P, X) for X, _ in test]
    shuffled = [g["olasilik"](P, g["okumalari_karistir"](X, g["TOHUM"] + 4000 + i)) for i, (X, _) in enumerate(test)]
    changes = [abs(a - b) for a, b in zip(shuffled, probs)]
    mean, largest = g["sira_sinamasi"](P, test)
    return {"name": name, "heads": heads, "run": k, "init_seed": g["TOHUM"] + k,
            "init": parameters(g["ilklendir"](g["TOHUM"] + k, heads)), "trained": parameters(P),
            "test_logits": logits, "test_probs": probs, "test_probs_shuffled": shuffled,
            "correct_of_180": sum((o > 0) == (y == 1) for o, (_, y) in zip(logits, test)),
            "accuracy": g["dogruluk"](P, test), "predicted_positive": sum(o > 0 for o in logits),
            "train_accuracy": g["dogruluk"](P, train), "train_bce": mean_loss(g, P, train),
            "test_bce": mean_loss(g, P, test), "centers": [g["merkez"](P, test, h) for h in range(heads)],
            "separation": g["ayriklik"](P, test),
            "order_test_run": {"mean_abs": mean, "max_abs": largest, "nonzero_of_180": sum(c > 0 for c in changes)},
            "attention_test0": [g["agirlik"](P, test[0][0], h) for h in range(heads)]}


def everything(g):
    uniforms = g["uretec"](g["TOHUM"])
    result = {"python": sys.version.split()[0], "libc": os.confstr("CS_GNU_LIBC_VERSION"), "seed": g["TOHUM"],
              "baseline": g["TABAN"],
              "label_positives": {"train200": sum(x["y"] for x in g["VERI"][:200]),
                                  "test180": sum(x["y"] for x in g["VERI"][540:]),
                                  "all720": sum(x["y"] for x in g["VERI"])},
              "position_channels": [[math.sin(math.pi * t / 11), math.cos(math.pi * t / 11)] for t in range(12)],
              "first_10_uniforms_seed_20260218": [uniforms() for _ in range(10)],
              "sequences": [{"oku": x["oku"], "y": x["y"]} for x in g["VERI"]]}
    result["runs"] = [run_of(g, f"pos H={heads} run{k}", heads, k, g["AG"][heads][k - 1], g["SG"], g["EG"])
                      for heads in (1, 2, 4) for k in (1, 2)]
    result["runs"] += [run_of(g, f"nopos H=2 run{k}", 2, k, g["KOD"][k - 1], g["TUM"][540:], g["TUM"][:200])
                       for k in (1, 2)]
    result["trajectory_H2_run1"] = {str(n): parameters(g["egit"](g["TOHUM"] + 1, 2, g["EG"], tur=n))
                                    for n in (1, 2, 10, 50)}
    return result


def main(folder):
    assert sys.version_info >= (3, 12), "Python 3.12 or later: its sum() is compensated"
    names, printed = run()
    open(os.path.join(folder, "lesson_heads_published.out"), "w").write(printed)
    with open(os.path.join(folder, "lesson_heads_py312.json"), "w") as file:
        json.dump(everything(names), file, separators=(",", ":"))
    more = [{"seed": s, "epochs": e, "width": w, "printed": run(s, e, w)[1]} for s, e, w in MORE]
    with open(os.path.join(folder, "lesson_heads_more.json"), "w") as file:
        json.dump(more, file, indent=1)


main(sys.argv[1])
