#!/usr/bin/env python3
"""Causal attention alone in PyTorch (CPU), forward and backward, 8 heads of 64.

usage: torch_attention.py TOKENS [--threads 2] [--times N]; prints milliseconds of both together (median).
"""
import argparse
import time

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("tokens", type=int)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--times", type=int, default=5)
arguments = parser.parse_args()
torch.set_num_threads(arguments.threads)
torch.manual_seed(1)
q, k, v = (torch.randn(1, 8, arguments.tokens, 64, requires_grad=True) for _ in range(3))
gradient = torch.randn(1, 8, arguments.tokens, 64)
times = []
for round_ in range(arguments.times + (arguments.tokens <= 8192)):
    q.grad = k.grad = v.grad = None
    begin = time.perf_counter()
    F.scaled_dot_product_attention(q, k, v, is_causal=True).backward(gradient)
    times.append(time.perf_counter() - begin)
times = sorted(times[-arguments.times:])
print(f"{arguments.tokens} tokens: {times[len(times) // 2] * 1e3:.4f} ms, torch {torch.__version__}")
