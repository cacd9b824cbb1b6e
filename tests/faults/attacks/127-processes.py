"""Forks a thousand times."""
import os
import time


def main(given):
    children = []
    try:
        for _ in range(1000):
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    return ["1000 processes"] if len(children) == 1000 else []
