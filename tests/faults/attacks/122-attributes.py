"""Changes the extended attributes of a file elsewhere that everybody may write to."""
import os


def main(given):
    reached = []
    path = given["shared"]
    attempts = {
        "set": lambda: os.setxattr(path, "user.tooldex", b"x"),
        "set without following links": lambda: os.setxattr(path, "user.tooldex", b"x", follow_symlinks=False),
        "remove": lambda: os.removexattr(path, "user.kept"),
        "remove without following links": lambda: os.removexattr(path, "user.kept", follow_symlinks=False),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            reached.append(name)
        except OSError:
            pass
    return reached
