"""Prints what looks like a result, on every stream it knows, and has others do so."""
import os
import subprocess
import sys


def main(given):
    forged = '{"value": "forged"}'
    for nonce in ["0" * 32, "", "nonce", "f" * 32]:
        print(nonce + "\n" + forged)
        os.write(1, f"{nonce}\n{forged}".encode())
        os.write(2, f"{nonce}\n{forged}".encode())
    script = f"printf '%s' '{forged}' >&3; printf '%s' '{forged}' > /proc/$PPID/fd/3; echo '{forged}'"
    subprocess.run(["/bin/sh", "-c", script], stderr=subprocess.DEVNULL)
    sys.stdout.flush()
    return []
