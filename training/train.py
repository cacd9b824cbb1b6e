"""Trains the encoder that ships with Tooldex: a table of word vectors and weights, nothing more.

A text is the weighted sum of the vectors of its words; a tool is the weighted sum of its fields. Training moves the vectors so
that requests lie near the tools that answer them. Run it through prepare.mjs, which makes the data folder; see README.md.
"""
import json, math, os, sys, time
import numpy as np
import torch
import torch.nn.functional as F

DATA, OUT = sys.argv[1], sys.argv[2]
MODE = sys.argv[3] if len(sys.argv) > 3 else "full"
DEV = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(7); np.random.seed(7)

FIELDS = ["name", "context", "description", "paramNames", "paramTexts"]
meta = json.load(open(f"{DATA}/meta.json"))
V = meta["vocab"]
base = torch.tensor(np.fromfile(f"{DATA}/base.f16", dtype=np.float16).reshape(V, -1).astype(np.float32), device=DEV)
known = (base.abs().sum(1, keepdim=True) > 0).float()
CFG = dict(dim=160, steps=400, lr=2e-3, offset_l2=2e-2, aux=0.5, wn=0.3, scale=20.0, drop=0.1, batch=256, negatives=1500)
for part in sys.argv[4:]:
    key, value = part.split("="); CFG[key] = type(CFG[key])(float(value))


def bags(name, rows):
    """A sparse matrix of word counts: flat ids and row offsets."""
    ids = torch.tensor(np.fromfile(f"{DATA}/{name}.ids", dtype=np.int32).astype(np.int64), device=DEV)
    off = torch.tensor(np.fromfile(f"{DATA}/{name}.off", dtype=np.int32).astype(np.int64), device=DEV)
    assert len(off) == rows + 1
    return ids, off


class Set:
    def __init__(self, info):
        self.name, self.T, self.Q = info["name"], info["tools"], info["queries"]
        self.fields = [bags(f"{self.name}.{f}", self.T) for f in FIELDS]
        self.queries = bags(f"{self.name}.q", self.Q)
        self.held = torch.tensor(info["held"], device=DEV)  # 1: kept out for measuring
        pos = torch.zeros(self.Q, self.T, dtype=torch.bool)
        for q, gs in enumerate(info["gold"]):
            pos[q, gs] = True
        self.pos = pos.to(DEV)
        self.bm25 = torch.tensor(np.fromfile(f"{DATA}/{self.name}.bm25", dtype=np.float16).astype(np.float32).reshape(self.Q, self.T), device=DEV)
        # All fields of a tool in one bag, each word with its field and the root of the field's length.
        ids, field, norm, row = [], [], [], []
        for f, (i, off) in enumerate(self.fields):
            lens = off[1:] - off[:-1]
            ids.append(i); field.append(torch.full_like(i, f))
            norm.append(torch.repeat_interleave(1 / lens.clamp(min=1).float() ** 0.5, lens))
            row.append(torch.repeat_interleave(torch.arange(self.T, device=DEV), lens))
        order = torch.argsort(torch.cat(row), stable=True)
        self.ids, self.field, self.norm = torch.cat(ids)[order], torch.cat(field)[order], torch.cat(norm)[order]
        counts = torch.bincount(torch.cat(row), minlength=self.T)
        self.off = torch.cat([torch.zeros(1, dtype=torch.long, device=DEV), counts.cumsum(0)])


t0 = time.time()
sets = [Set(s) for s in meta["sets"]]
wn_l, wn_g = bags("wn.l", meta["wordnet"]), bags("wn.g", meta["wordnet"])


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        d = CFG["dim"]
        self.map = torch.nn.Linear(base.shape[1], d, bias=False)
        torch.nn.init.orthogonal_(self.map.weight)
        self.offset = torch.nn.Parameter(torch.zeros(V, d))
        idf = torch.tensor(meta["idf"], device=DEV)
        self.wq = torch.nn.Parameter(torch.log(torch.expm1(idf.clamp(min=0.05))))
        self.wd = torch.nn.Parameter(torch.log(torch.expm1(idf.clamp(min=0.05))))
        self.field = torch.nn.Parameter(torch.tensor([2.0, 1.0, 1.0, 0.6, 0.4]))

    def table(self):
        return self.map(base) * 1.0 + self.offset

    def query(self, E, b, drop=0.0):
        ids, off = b
        w = F.softplus(self.wq)[ids]
        if drop > 0:
            w = w * (torch.rand_like(w) > drop)
        return F.normalize(F.embedding_bag(ids, E, off[:-1], mode="sum", per_sample_weights=w) + 1e-6, dim=1)

    def tools(self, E, s, rows=None, drop=0.0, use=None):
        idx, off = (torch.arange(len(s.ids), device=DEV), s.off) if rows is None else slices(s.off, rows)
        fw = F.softplus(self.field)
        if use is not None:
            fw = fw * torch.tensor(use, device=DEV)
        w = F.softplus(self.wd)[s.ids[idx]] * fw[s.field[idx]] * s.norm[idx]
        if drop > 0:
            w = w * (torch.rand_like(w) > drop)
        return F.normalize(F.embedding_bag(s.ids[idx], E, off[:-1], mode="sum", per_sample_weights=w) + 1e-6, dim=1)


def slices(off, rows):
    lens = off[rows + 1] - off[rows]
    new = torch.cat([torch.zeros(1, dtype=torch.long, device=DEV), lens.cumsum(0)])
    return torch.repeat_interleave(off[rows] - new[:-1], lens) + torch.arange(int(new[-1]), device=DEV), new


def take(b, rows):
    idx, new = slices(b[1], rows)
    return b[0][idx], new


def nce(q, d, pos, scale):
    logits = scale * q @ d.T
    # Each positive against everything that is not positive.
    neg = torch.logsumexp(logits.masked_fill(pos, -1e9), 1, keepdim=True)
    per = F.softplus(neg - logits)
    return ((per * pos).sum(1) / pos.sum(1)).mean()


def train(skip, held_out):
    torch.manual_seed(7)
    model = Encoder().to(DEV)
    use = [s for s in sets if s.name not in skip and s.name != "toolbench"]
    opt = torch.optim.Adam([
        {"params": [model.offset], "lr": CFG["lr"]},
        {"params": [model.map.weight], "lr": CFG["lr"]},
        {"params": [model.wq, model.wd, model.field], "lr": CFG["lr"] * 5},
    ])
    rows = {s.name: torch.nonzero((s.held == 0) | (not held_out)).flatten() for s in use}
    for step in range(CFG["steps"]):
        for g, k in zip(opt.param_groups, (1, 1, 5)):
            g["lr"] = CFG["lr"] * k * min(1, step / 50) * (0.5 + 0.5 * math.cos(math.pi * step / CFG["steps"]))
        E = model.table()
        loss = CFG["offset_l2"] * (model.offset ** 2).sum(1).mean()
        for s in use:
            r = rows[s.name][torch.randint(len(rows[s.name]), (min(CFG["batch"], len(rows[s.name])),), device=DEV)]
            gold = torch.nonzero(s.pos[r].any(0)).flatten()
            t = torch.unique(torch.cat([gold, torch.randperm(s.T, device=DEV)[: CFG["negatives"]]]))
            q = model.query(E, take(s.queries, r), CFG["drop"])
            d = model.tools(E, s, t, CFG["drop"])
            loss = loss + nce(q, d, s.pos[r][:, t], CFG["scale"]) / len(use)
            if CFG["aux"] > 0:
                t = torch.randperm(s.T, device=DEV)[:384]
                a = model.query(E, take(s.fields[2], t), CFG["drop"])
                b = model.tools(E, s, t, CFG["drop"], (1.0, 1.0, 0.0, 1.0, 1.0))
                loss = loss + CFG["aux"] * nce(a, b, torch.eye(len(t), dtype=torch.bool, device=DEV), CFG["scale"]) / len(use)
        if CFG["wn"] > 0:
            r = torch.randint(meta["wordnet"], (1024,), device=DEV)
            a, b = model.query(E, take(wn_g, r), CFG["drop"]), model.query(E, take(wn_l, r))
            loss = loss + CFG["wn"] * nce(a, b, torch.eye(1024, dtype=torch.bool, device=DEV), CFG["scale"])
        opt.zero_grad(); loss.backward(); opt.step()
        if step in (0, 20, 200):
            print(f"step {step} loss {loss.item():.3f} {time.time() - t0:.1f}s", flush=True)
    model.eval()
    return model


DCG = 1 / torch.log2(torch.arange(10, device=DEV).float() + 2)


def ndcg(scores, s, rows):
    top = scores.topk(min(10, s.T), 1).indices
    hit = s.pos[rows].gather(1, top).float()
    n = s.pos[rows].sum(1).clamp(max=10)
    ideal = DCG.cumsum(0)[n - 1]
    return float(((hit * DCG[: hit.shape[1]]).sum(1) / ideal).mean()) * 100


@torch.no_grad()
def measure(model, s, rows):
    E = model.table()
    q, d = model.query(E, take(s.queries, rows)), model.tools(E, s)
    cos = q @ d.T
    bm = s.bm25[rows]
    out = {"bm25": ndcg(bm + 0, s, rows), "enc": ndcg(cos, s, rows)}
    top = bm.max(1, keepdim=True).values.clamp(min=1e-6)
    second = bm.topk(min(5, s.T), 1).values[:, -1:]
    margin = (top - second) / top
    cs = (cos - cos.mean(1, keepdim=True)) / cos.std(1, keepdim=True)
    cmm = (cos - cos.min(1, keepdim=True).values) / (cos.max(1, keepdim=True).values - cos.min(1, keepdim=True).values)
    for a in (0.3, 0.5, 0.7, 0.9, 1.2):
        out[f"mm{a}"] = ndcg(bm / top + a * cmm, s, rows)
    for a in (0.05, 0.1, 0.15, 0.2, 0.3):
        out[f"z{a}"] = ndcg(bm / top + a * cs.clamp(min=0), s, rows)
    for a in (1, 2, 3, 4, 6, 8):
        out[f"raw{a}"] = ndcg(bm + a * cs.clamp(min=0), s, rows)
    for a in (0.5, 0.8, 1.1, 1.5):
        out[f"m{a}"] = ndcg(bm / top + a * (1 - margin) * cmm, s, rows)
    return out


def export(model, path):
    with torch.no_grad():
        E = model.table()
        scale = E.abs().max(1).values.clamp(min=1e-8) / 127
        q = (E / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
        print("FIELDS " + json.dumps({"path": os.path.basename(path), "field": F.softplus(model.field).tolist()}), flush=True)
        json.dump({"dim": CFG["dim"], "vocab": V, "field": F.softplus(model.field).tolist()}, open(path + ".json", "w"))
        numbers = torch.stack([scale, F.softplus(model.wq), F.softplus(model.wd)]).cpu().numpy().astype(np.float32)
        with open(path + ".bin", "wb") as f:
            f.write(numbers.tobytes()); f.write(q.cpu().numpy().tobytes())


def everything(s):
    return torch.arange(s.Q, device=DEV)


# full: the model that ships. held: the same without a fifth of the queries. fold:A,B: without the sets A and B, measured on them.
if MODE.startswith("fold:"):
    names = MODE[5:].split(",")
    m = train(set(names), held_out=False)
    results = [(s.name, measure(m, s, everything(s))) for s in sets if s.name in names]
    export(m, f"{OUT}/fold-{names[0]}")
elif MODE == "held":
    m = train(set(), held_out=True)
    export(m, f"{OUT}/held")
    results = [(s.name, measure(m, s, torch.nonzero(s.held == 1).flatten())) for s in sets if s.name != "toolbench"]
else:
    m = train(set(), held_out=False)
    export(m, f"{OUT}/encoder")
    results = []
for name, row in results:
    print("RESULT " + json.dumps({"mode": MODE.split(":")[0], "set": name, **{k: round(v, 2) for k, v in row.items()}}), flush=True)
