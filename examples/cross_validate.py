#!/usr/bin/env python3
"""Repeated k-fold cross-validation of a training of series, per label, by a seed.

  examples/cross_validate.py --dikkat build/dikkat --data days.csv --folds 2 --repeats 8 -- --preset series

What stands after -- goes to `dikkat train`. The file is wide (one row a series) and has a header; --label names its column
(default: the first). Prints the accuracy and the loss over all held-out series, and the accuracies' deviation over repeats.
"""
import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import tempfile


def folds_of(labels, folds, seed):
    order, draw = [], random.Random(seed)
    for label in sorted(set(labels)):
        rows = [i for i, other in enumerate(labels) if other == label]
        draw.shuffle(rows)
        order += rows
    return [order[fold::folds] for fold in range(folds)]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def measure(options, header, rows, held_out, seed, folder):
    train, test, run = (os.path.join(folder, name) for name in ("train.csv", "test.csv", "run"))
    write(train, header, [row for i, row in enumerate(rows) if i not in held_out])
    write(test, header, [rows[i] for i in sorted(held_out)])
    label = ["--label", options.label] if options.label else []
    quiet = {"check": True, "stdout": subprocess.PIPE}
    subprocess.run([options.dikkat, "train", train, "--task", "classify", *label, "--seed", str(seed), "--out", run,
                    *options.training], **quiet)
    return json.loads(subprocess.run([options.dikkat, "eval", run, test, "--json"], **quiet).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dikkat", default="dikkat")
    parser.add_argument("--data", required=True)
    parser.add_argument("--label")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("training", nargs="*")
    options = parser.parse_args()
    with open(options.data, newline="") as file:
        header, *rows = csv.reader(file)
    labels = [row[header.index(options.label) if options.label else 0] for row in rows]
    accuracies, loss = [], 0.0
    for repeat in range(options.repeats):
        right = 0
        for fold, held_out in enumerate(folds_of(labels, options.folds, repeat)):
            with tempfile.TemporaryDirectory() as folder:
                seed = 1 + repeat * options.folds + fold
                scores = measure(options, header, rows, set(held_out), seed, folder)
            right += scores["right"]
            loss += scores["loss_nats"] * scores["series"]
        accuracies.append(right / len(rows))
    print(f"accuracy {statistics.mean(accuracies):.4f}, deviation over repeats {statistics.pstdev(accuracies):.4f}, "
          f"loss {loss / len(rows) / options.repeats:.4f} nats")


if __name__ == "__main__":
    main()
