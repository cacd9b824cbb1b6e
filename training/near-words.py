"""The near words of each word of a trained encoder, as pack.mjs adds them to it: near-words.py TRAINED.bin TRAINED.json VOCAB.json OUT.bin"""
import json
import re
import sys

import numpy as np

trained, settings, vocab, out = sys.argv[1:5]
LOWEST, MOST = 0.4, 16
with open(settings) as file:
    dim = json.load(file)["dim"]
with open(vocab) as file:
    words = json.load(file)
rows = np.fromfile(trained, np.int8, offset=12 * len(words)).reshape(len(words), dim).astype(np.float32)
rows /= np.maximum(np.sqrt((rows * rows).sum(1, keepdims=True)), 1e-6)
is_word = np.array([re.fullmatch("[a-z]{2,}", word) is not None for word in words])
ends, numbers, cosines = [], [], []
for start in range(0, len(words), 512):
    near = rows[start : start + 512] @ rows.T
    near[:, ~is_word] = -1
    for row, line in enumerate(near):
        line[start + row] = -1
        found = np.nonzero(line >= LOWEST)[0] if is_word[start + row] else np.empty(0, int)
        found = found[np.argsort(-line[found], kind="stable")][:MOST]
        numbers.append(found.astype(np.uint16))
        cosines.append(np.round(255 * line[found]).astype(np.uint8))
        ends.append((ends[-1] if ends else 0) + len(found))
with open(out, "wb") as file:
    for part in (np.array(ends, np.uint32), np.concatenate(numbers), np.concatenate(cosines)):
        file.write(part.tobytes())
print(f"{ends[-1]} pairs, {(4 * len(ends) + 3 * ends[-1]) / 1e6:.2f} MB")
