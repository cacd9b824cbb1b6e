"""Sets the times of a file elsewhere that everybody may write to, which takes no more than the right to write."""
import os


def main(given):
    try:
        os.utime(given["shared"])
        return ["times"]
    except OSError:
        return []
