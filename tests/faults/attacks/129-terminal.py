"""Types into a terminal."""
import fcntl
import os
import termios


def main(given):
    reached = []
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
        reached.append("a terminal")
    except OSError:
        pass
    try:
        first, second = os.openpty()
        fcntl.ioctl(second, termios.TIOCSCTTY, 0)
        fcntl.ioctl(second, termios.TIOCSTI, b"x")
        reached.append("TIOCSTI")
    except OSError:
        pass
    return reached
