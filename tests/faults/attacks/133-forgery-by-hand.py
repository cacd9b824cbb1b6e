"""Writes to the stream of the result itself, without knowing the word that is agreed on."""
import os


def main(given):
    os.write(3, b"0" * 32 + b'\n{"value": "forged"}')
    os._exit(0)
