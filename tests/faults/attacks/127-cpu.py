"""Computes for ever."""


def main(given):
    while True:
        pass
