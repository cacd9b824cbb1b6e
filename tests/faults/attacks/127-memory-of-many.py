"""Takes two gibibytes in eight processes, each of which takes little."""
import os
import time


def main(given):
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            held = bytearray(os.urandom(1)) * (256 << 20)
            time.sleep(3)
            os._exit(0 if held else 1)
        children.append(child)
    ended = [os.waitpid(child, 0)[1] for child in children]
    return ["2 GiB in eight processes"] if ended.count(0) == 8 else []
