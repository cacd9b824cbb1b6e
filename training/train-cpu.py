"""Trains the encoder of train.py with NumPy and SciPy alone: train-cpu.py DATA OUT full|held|fold:SET,SET [key=value...]

Same model, objective and data; fewer steps and smaller batches, so that one core needs about three minutes. The encoders of the
sets left out, by which confidence is fitted, were trained with it. Gradients are written out by hand.
"""
import json
import math
import sys
import time

import numpy as np
import scipy.sparse as sp

DATA, OUT, MODE = sys.argv[1:4]
FIELDS = ["name", "context", "description", "paramNames", "paramTexts"]
CFG = dict(dim=160, steps=220, lr=2.6e-3, offset_l2=2e-2, aux=0.5, wn=0.3, scale=20.0, drop=0.1, batch=192, negatives=900)
for part in sys.argv[4:]:
    key, value = part.split("=")
    CFG[key] = type(CFG[key])(float(value))

started = time.time()
rng = np.random.default_rng(7)
with open(f"{DATA}/meta.json") as file:
    meta = json.load(file)
V = meta["vocab"]
base = np.fromfile(f"{DATA}/base.f16", dtype=np.float16).reshape(V, -1).astype(np.float32)


def softplus(x):
    return np.logaddexp(0, x).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def bags(name):
    """A sparse matrix of word counts: flat ids and row offsets."""
    ids = np.fromfile(f"{DATA}/{name}.ids", dtype=np.int32)
    return ids, np.fromfile(f"{DATA}/{name}.off", dtype=np.int32).astype(np.int64)


def slices(off, rows):
    lens = off[rows + 1] - off[rows]
    new = np.concatenate([[0], np.cumsum(lens)])
    return np.repeat(off[rows] - new[:-1], lens) + np.arange(new[-1]), new


class Set:
    def __init__(self, info):
        self.name, self.T, self.gold, self.held = info["name"], info["tools"], info["gold"], info["held"]
        self.queries = bags(f"{self.name}.q")
        self.descriptions = bags(f"{self.name}.description")
        ids, field, norm, row = [], [], [], []
        for number, name in enumerate(FIELDS):
            words, off = bags(f"{self.name}.{name}")
            lens = np.diff(off)
            ids.append(words)
            field.append(np.full(len(words), number))
            norm.append(np.repeat(1 / np.sqrt(np.maximum(lens, 1)), lens))
            row.append(np.repeat(np.arange(self.T), lens))
        row = np.concatenate(row)
        order = np.argsort(row, kind="stable")
        self.ids, self.field = np.concatenate(ids)[order], np.concatenate(field)[order]
        self.norm = np.concatenate(norm)[order].astype(np.float32)
        self.off = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.T))])


class Side:
    """The encoded texts of one side of a loss, with what their gradients need."""

    def __init__(self, table, ids, weights, off):
        self.ids, self.off = ids, off
        self.matrix = sp.csr_matrix((weights, ids, off), shape=(len(off) - 1, V))
        sums = self.matrix @ table + 1e-6
        self.length = np.sqrt((sums * sums).sum(1, keepdims=True))
        self.unit = sums / self.length

    def add_gradient(self, table, by_unit, grads):
        """Adds the gradient of the table, and returns that of each word's weight."""
        by_sum = (by_unit - self.unit * (self.unit * by_unit).sum(1, keepdims=True)) / self.length
        grads["table"] += self.matrix.T @ by_sum
        row = np.repeat(np.arange(len(self.off) - 1), np.diff(self.off))
        by_weight = np.empty(len(self.ids), np.float32)
        for at in range(0, len(self.ids), 20000):
            part = slice(at, at + 20000)
            by_weight[part] = np.einsum("kd,kd->k", table[self.ids[part]], by_sum[row[part]])
        return by_weight


class Queries(Side):
    def __init__(self, table, bag, rows, drop):
        index, off = slices(bag[1], rows)
        ids = bag[0][index]
        self.mask = (rng.random(len(ids)) >= drop).astype(np.float32)
        super().__init__(table, ids, softplus(params["wq"])[ids] * self.mask, off)

    def back(self, table, by_unit, grads):
        by_weight = self.add_gradient(table, by_unit, grads)
        np.add.at(grads["wq"], self.ids, by_weight * self.mask * sigmoid(params["wq"][self.ids]))


class Tools(Side):
    def __init__(self, table, tools, rows, use=None):
        index, off = slices(tools.off, rows)
        ids, self.field = tools.ids[index], tools.field[index]
        self.use = np.ones(len(FIELDS), np.float32) if use is None else use
        self.by_field = softplus(params["field"]) * self.use
        self.rest = tools.norm[index] * (rng.random(len(ids)) >= CFG["drop"])
        weights = softplus(params["wd"])[ids] * self.by_field[self.field] * self.rest
        super().__init__(table, ids, weights.astype(np.float32), off)

    def back(self, table, by_unit, grads):
        by_weight = self.add_gradient(table, by_unit, grads) * self.rest
        by_word = by_weight * self.by_field[self.field] * sigmoid(params["wd"][self.ids])
        np.add.at(grads["wd"], self.ids, by_word)
        by_field = by_weight * softplus(params["wd"])[self.ids]
        sums = np.bincount(self.field, weights=by_field, minlength=len(FIELDS))
        grads["field"] += (sums * self.use * sigmoid(params["field"])).astype(np.float32)


def nce(a, b, positive, weight, table, grads):
    """Each positive against everything that is not positive; adds the gradients and returns the loss."""
    logits = CFG["scale"] * a.unit @ b.unit.T
    others = np.where(positive, -1e9, logits)
    highest = others.max(1, keepdims=True)
    powers = np.exp(others - highest)
    sums = powers.sum(1, keepdims=True)
    row, column = np.nonzero(positive)
    margin = (highest + np.log(sums))[row, 0] - logits[row, column]
    count = positive.sum(1)[row] * len(logits)
    pull = sigmoid(margin) / count
    by_logit = powers / sums * np.bincount(row, weights=pull, minlength=len(logits))[:, None]
    np.subtract.at(by_logit, (row, column), pull)
    by_logit = (by_logit * CFG["scale"] * weight).astype(np.float32)
    a.back(table, by_logit @ b.unit, grads)
    b.back(table, by_logit.T @ a.unit, grads)
    return weight * (np.logaddexp(0, margin) / count).sum()


def set_loss(s, rows, table, grads, weight):
    batch = rows[rng.integers(0, len(rows), min(CFG["batch"], len(rows)))]
    gold = np.concatenate([s.gold[q] for q in batch])
    tools = np.unique(np.concatenate([gold, rng.permutation(s.T)[: CFG["negatives"]]])).astype(int)
    at = np.full(s.T, -1)
    at[tools] = np.arange(len(tools))
    positive = np.zeros((len(batch), len(tools)), bool)
    for row, q in enumerate(batch):
        positive[row, at[s.gold[q]]] = True
    loss = nce(Queries(table, s.queries, batch, CFG["drop"]), Tools(table, s, tools), positive, weight, table, grads)
    some = rng.permutation(s.T)[:256]
    without_description = np.array([1, 1, 0, 1, 1], np.float32)
    texts = Queries(table, s.descriptions, some, CFG["drop"])
    rest = Tools(table, s, some, without_description)
    return loss + nce(texts, rest, np.eye(len(some), dtype=bool), CFG["aux"] * weight, table, grads)


def train(left_out, held_out):
    sets = [s for s in map(Set, meta["sets"]) if s.name not in left_out and s.name != "toolbench"]
    lemmas, glosses = bags("wn.l"), bags("wn.g")
    rows = {s.name: np.array([q for q, gold in enumerate(s.gold) if gold and not (held_out and s.held[q])]) for s in sets}
    first = {name: np.zeros_like(value) for name, value in params.items()}
    second = {name: np.zeros_like(value) for name, value in params.items()}
    for step in range(CFG["steps"]):
        table = base @ params["map"] + params["offset"]
        grads = {name: np.zeros_like(params[name]) for name in ("wq", "wd", "field")}
        grads["table"] = np.zeros_like(table)
        loss = sum(set_loss(s, rows[s.name], table, grads, 1 / len(sets)) for s in sets)
        some = rng.integers(0, meta["wordnet"], 512)
        gloss, lemma = Queries(table, glosses, some, CFG["drop"]), Queries(table, lemmas, some, 0)
        loss += nce(gloss, lemma, np.eye(len(some), dtype=bool), CFG["wn"], table, grads)
        by_table = grads.pop("table")
        grads["map"] = base.T @ by_table
        grads["offset"] = by_table + (2 * CFG["offset_l2"] / V) * params["offset"]
        rate = CFG["lr"] * min(1, step / 30) * (0.5 + 0.5 * math.cos(math.pi * step / CFG["steps"]))
        for name, grad in grads.items():
            first[name] += 0.1 * (grad - first[name])
            second[name] += 0.001 * (grad * grad - second[name])
            scale = rate * (5 if name in ("wq", "wd", "field") else 1) / (1 - 0.9 ** (step + 1))
            params[name] -= scale * first[name] / (np.sqrt(second[name] / (1 - 0.999 ** (step + 1))) + 1e-8)
        if step % 20 == 0:
            print(f"step {step} loss {loss:.3f} {time.time() - started:.1f}s", flush=True)


def export(path):
    """The files that pack.mjs reads."""
    table = base @ params["map"] + params["offset"]
    scale = np.maximum(np.abs(table).max(1), 1e-8) / 127
    rows = np.clip(np.round(table / scale[:, None]), -127, 127).astype(np.int8)
    numbers = np.stack([scale, softplus(params["wq"]), softplus(params["wd"])]).astype(np.float32)
    with open(path + ".json", "w") as header:
        json.dump({"dim": CFG["dim"], "vocab": V, "field": softplus(params["field"]).tolist()}, header)
    with open(path + ".bin", "wb") as body:
        body.write(numbers.tobytes() + rows.tobytes())


weights = np.log(np.expm1(np.maximum(np.array(meta["idf"], np.float32), 0.05)))
params = {
    "map": np.linalg.qr(rng.standard_normal((base.shape[1], CFG["dim"])))[0].astype(np.float32),
    "offset": np.zeros((V, CFG["dim"]), np.float32),
    "wq": weights.copy(),
    "wd": weights.copy(),
    "field": np.array([2.0, 1.0, 1.0, 0.6, 0.4], np.float32),
}
names = MODE[5:].split(",") if MODE.startswith("fold:") else []
train(set(names), MODE == "held")
export(f"{OUT}/" + (f"fold-{names[0]}" if names else "held" if MODE == "held" else "encoder"))
