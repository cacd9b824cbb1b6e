"""Writes ten gigabytes, in one file and in many."""


def main(given):
    reached = []
    part = b"x" * (8 << 20)

    def fill(name, most):
        try:
            with open(name, "wb") as file:
                for _ in range(most >> 23):
                    file.write(part)
            return True
        except OSError:
            return False

    if fill("large", 10 << 30):
        reached.append("10 GiB in a file")
    if all([fill(f"small-{number}", 64 << 20) for number in range(6)]):
        reached.append("384 MiB in files")
    return reached
