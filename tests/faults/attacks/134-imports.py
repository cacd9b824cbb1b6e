"""Has files of its own imported in the place of the system's."""
import os
import sys


def main(given):
    reached = []
    if not (sys.flags.isolated and sys.flags.no_site and sys.flags.ignore_environment):
        reached.append("listens to its environment")
    for name in ["sitecustomize", "usercustomize", "wave"]:
        with open(f"{name}.py", "w") as file:
            file.write("stolen = True\n")
    import wave

    if hasattr(wave, "stolen"):
        reached.append("imports from its folder")
    if any(name in sys.modules for name in ["site", "sitecustomize", "usercustomize"]):
        reached.append("site was imported")
    if any(path in ("", ".", os.getcwd()) for path in sys.path):
        reached.append("its folder is searched")
    return reached
