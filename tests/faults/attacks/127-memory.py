"""Takes two gibibytes, at once and by and by."""


def main(given):
    try:
        held = bytearray(2 << 30)
        return ["2 GiB at once"] if held else []
    except MemoryError:
        pass
    parts = []
    try:
        for _ in range(128):
            parts.append(bytearray(16 << 20))
    except MemoryError:
        return []
    return ["2 GiB by and by"]
