# The program of the document "Cok Basli Dikkat ve Donusturuculer" (its Turkish text is the origin of dikkat lesson heads):
# its Python blocks, in order and unmodified. What it prints is lesson_heads_published.out beside it.
# ORTAK — MODELDIR. `mimariler/06`'da kurulan KURGU dizi kumesi ayni tohumla yeniden uretilir.
import math

TOHUM, M32, ADIM = 20260218, 0xFFFFFFFF, 12


def uretec(t):
    x = ((t ^ (t >> 16)) * 2246822507) & M32
    x = ((x ^ (x >> 13)) * 3266489909) & M32
    s = [(x ^ (x >> 16)) & M32]

    def sonraki():
        s[0] = (s[0] * 1664525 + 1013904223) & M32
        return s[0] / 4294967296
    return sonraki


def dizi_kur(n, tohum):
    D = []
    for i in range(n):
        r = uretec(tohum + i)
        r()  # bolge cekilisi: bu derste kullanilmaz, dizi ayni kalsin diye tuketilir
        oku = [0.0] + [round((r() + r() + r() - 1.5) * 1.9, 3) for _ in range(ADIM - 1)]
        r()
        D.append({"oku": oku})
    return D


VERI = dizi_kur(720, TOHUM)
ILK, SON = range(1, 6), range(7, 12)
for x in VERI:
    a = sum(x["oku"][t] for t in ILK) / 5
    b = sum(x["oku"][t] for t in SON) / 5
    x["y"] = 1 if b - a > 0.30 else 0
EGT, SIN = VERI[:200], VERI[540:]
oran = sum(x["y"] for x in SIN) / len(SIN)
TABAN = max(oran, 1 - oran)
print(f"dizi {len(VERI)}, uzunluk {ADIM}, egitim {len(EGT)}, ayrilmis {len(SIN)}")
print(f"artis etiketi orani egitim {sum(x['y'] for x in EGT) / len(EGT):.4f}, "
      f"ayrilmis {oran:.4f}")
print(f"taban cizgisi (en sik sinif) {TABAN:.4f}")
print(f"ornek dizi {VERI[0]['oku']}")


DTOP, DIN = 4, 3


def girdi(x, kod=True):
    K = [[math.sin(math.pi * t / (ADIM - 1)), math.cos(math.pi * t / (ADIM - 1))]
         for t in range(ADIM)]
    return [[x["oku"][t]] + (K[t] if kod else [0.0, 0.0]) for t in range(ADIM)]


def ilklendir(tohum, H):
    d = DTOP // H
    r = uretec(tohum)
    g = lambda: (r() + r() + r() - 1.5) * 0.9
    return {"H": H, "d": d, "ol": 1.0 / math.sqrt(d),
            "Wk": [[[g() for _ in range(DIN)] for _ in range(d)] for _ in range(H)],
            "Wv": [[[g() for _ in range(DIN)] for _ in range(d)] for _ in range(H)],
            "q": [[g() for _ in range(d)] for _ in range(H)],
            "w": [g() for _ in range(DTOP)], "b": [0.0]}


def agirlik(P, X, h):
    # sorgu ile anahtar izdusumu tek bir yone katlanir: u = q^T Wk
    d, wk, q = P["d"], P["Wk"][h], P["q"][h]
    u = [sum(q[i] * wk[i][j] for i in range(d)) for j in range(DIN)]
    s = [(u[0] * x[0] + u[1] * x[1] + u[2] * x[2]) * P["ol"] for x in X]
    mx = max(s)
    e = [math.exp(v - mx) for v in s]
    z = sum(e)
    return [v / z for v in e]


def bas(P, X, h):
    a = agirlik(P, X, h)
    Xa = [sum(a[t] * X[t][j] for t in range(ADIM)) for j in range(DIN)]
    return a, Xa, [sum(P["Wv"][h][i][j] * Xa[j] for j in range(DIN))
                   for i in range(P["d"])]


def ileri(P, X):
    d, o = P["d"], P["b"][0]
    for h in range(P["H"]):
        c = bas(P, X, h)[2]
        o += sum(P["w"][h * d + i] * c[i] for i in range(d))
    return o


def egit(tohum, H, EG, tur=150, adim=0.15, mom=0.8):
    P = ilklendir(tohum, H)
    d, ol, n, hiz = P["d"], P["ol"], len(EG), None
    for _ in range(tur):
        gWk = [[[0.0] * DIN for _ in range(d)] for _ in range(H)]
        gWv = [[[0.0] * DIN for _ in range(d)] for _ in range(H)]
        gq = [[0.0] * d for _ in range(H)]
        gw, gb = [0.0] * DTOP, [0.0]
        for X, y in EG:
            B = [bas(P, X, h) for h in range(H)]
            o = P["b"][0] + sum(P["w"][h * d + i] * B[h][2][i]
                                for h in range(H) for i in range(d))
            df = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, o)))) - y
            gb[0] += df
            for h in range(H):
                a, Xa, c = B[h]
                dc = [df * P["w"][h * d + i] for i in range(d)]
                mv = [sum(dc[i] * P["Wv"][h][i][j] for i in range(d)) for j in range(DIN)]
                da = [mv[0] * x[0] + mv[1] * x[1] + mv[2] * x[2] for x in X]
                orta = sum(a[t] * da[t] for t in range(ADIM))
                S = [0.0, 0.0, 0.0]
                for t in range(ADIM):
                    ds, x = a[t] * (da[t] - orta) * ol, X[t]
                    S[0] += ds * x[0]
                    S[1] += ds * x[1]
                    S[2] += ds * x[2]
                for i in range(d):
                    gw[h * d + i] += df * c[i]
                    gq[h][i] += sum(P["Wk"][h][i][j] * S[j] for j in range(DIN))
                    for j in range(DIN):
                        gWk[h][i][j] += P["q"][h][i] * S[j]
                        gWv[h][i][j] += dc[i] * Xa[j]
        par = [P["Wk"][h][i] for h in range(H) for i in range(d)] \
            + [P["Wv"][h][i] for h in range(H) for i in range(d)] \
            + P["q"] + [P["w"], P["b"]]
        egm = [gWk[h][i] for h in range(H) for i in range(d)] \
            + [gWv[h][i] for h in range(H) for i in range(d)] + gq + [gw, gb]
        if hiz is None:
            hiz = [[0.0] * len(u) for u in par]
        for u, v, g in zip(par, egm, hiz):   # momentumlu inis
            for i in range(len(u)):
                g[i] = mom * g[i] - adim * v[i] / n
                u[i] += g[i]
    return P


def dogruluk(P, G):
    return sum((ileri(P, X) > 0) == (y == 1) for X, y in G) / len(G)


GK = [(girdi(x), x["y"]) for x in VERI]
EG, SG = GK[:200], GK[540:]
AG = {}
print(f"toplam ic boyut {DTOP}, tur 150, egitim ornegi {len(EG)}, "
      f"taban cizgisi {TABAN:.4f}")
print(f"{'bas':>4}{'bas boyutu':>12}{'parametre':>11}{'kosum 1':>10}{'kosum 2':>10}"
      f"{'ortalama':>10}{'kosum farki':>13}")
for H in (1, 2, 4):
    AG[H] = [egit(TOHUM + k, H, EG) for k in (1, 2)]
    a, b = (dogruluk(P, SG) for P in AG[H])
    print(f"{H:>4}{DTOP // H:>12}{2 * DTOP * DIN + 2 * DTOP + 1:>11}{a:>10.4f}"
          f"{b:>10.4f}{(a + b) / 2:>10.4f}{abs(a - b):>13.4f}")


def merkez(P, G, h):
    return sum(sum(t * agirlik(P, X, h)[t] for t in range(ADIM)) for X, _ in G) / len(G)


def ayriklik(P, G):
    H, s = P["H"], 0.0
    if H < 2:
        return 0.0
    for X, _ in G:
        A = [agirlik(P, X, h) for h in range(H)]
        for i in range(H):
            for j in range(i + 1, H):
                s += sum(abs(A[i][t] - A[j][t]) for t in range(ADIM)) / 2
    return s / (len(G) * H * (H - 1) / 2)


print(f"gorevin istedigi iki bolge: adim {min(ILK)}-{max(ILK)} ve {min(SON)}-{max(SON)}")
print(f"{'':18}{'agirlik merkezleri':>34}{'ayriklik':>10}{'ayrilmis':>10}")
for H in (1, 2, 4):
    for k in (0, 1):
        P = AG[H][k]
        m = ", ".join(f"{merkez(P, SG, h):.2f}" for h in range(H))
        print(f"{H} bas, kosum {k + 1:<5}{m:>34}{ayriklik(P, SG):>10.4f}"
              f"{dogruluk(P, SG):>10.4f}")


def okumalari_karistir(X, tohum):
    r, s = uretec(tohum), list(range(ADIM))
    for i in range(ADIM - 1, 0, -1):
        j = int(r() * (i + 1))
        s[i], s[j] = s[j], s[i]
    return [[X[s[t]][0], X[t][1], X[t][2]] for t in range(ADIM)]


def olasilik(P, X):
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, ileri(P, X)))))


def sira_sinamasi(P, G):
    e, en = 0.0, 0.0
    for i, (X, _y) in enumerate(G):
        d = abs(olasilik(P, okumalari_karistir(X, TOHUM + 4000 + i)) - olasilik(P, X))
        e, en = e + d, max(en, d)
    return e / len(G), en


TUM = [(girdi(x, False), x["y"]) for x in VERI]
KOD = [egit(TOHUM + k, 2, TUM[:200]) for k in (1, 2)]
print(f"taban cizgisi (en sik sinif) {TABAN:.4f}")
print(f"{'':28}{'kosum 1':>9}{'kosum 2':>9}{'ort |degisim|':>15}{'en buyuk':>10}")
for ad, M, G in (("konum kodlamasi var", AG[2], SG), ("konum kodlamasi yok", KOD, TUM[540:])):
    e, en = sira_sinamasi(M[1], G)
    print(f"{ad:<28}{dogruluk(M[0], G):>9.4f}{dogruluk(M[1], G):>9.4f}"
          f"{e:>15.4f}{en:>10.4f}")
