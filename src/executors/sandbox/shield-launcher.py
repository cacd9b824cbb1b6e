# Hides the server from a program without a sandbox, and then becomes that program. A process in a Landlock domain
# cannot inspect processes outside of it: neither memory nor variables, open files or root. Files are granted folder
# by folder, all but the hidden one; the folders that lead to it can be listed and entered, nothing else.
#
#   arguments: HIDDEN SHOWN PROGRAM WORD...     SHOWN is a folder in HIDDEN that may be read, or empty
import ctypes, os, stat, struct, sys
hidden, shown, program, words = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)
(
    EXECUTE, WRITE, READ, LIST, RMDIR, REMOVE, CHAR, MKDIR, CREATE, SOCK, FIFO, BLOCK, LINK, REFER, TRUNCATE,
) = (1 << n for n in range(15))
FILE = EXECUTE | WRITE | READ | TRUNCATE
root = os.geteuid() == 0

def system(what, *args):
    result = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in args])
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, what + ': ' + os.strerror(code))
    return result

version = libc.syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1))
if version < 2:
    sys.exit('the kernel has no Landlock of version 2 or newer')
ALL = (1 << 14) - 1 | (TRUNCATE if version >= 3 else 0)
ruleset = system('landlock_create_ruleset', 444, struct.pack('=Q', ALL), 8, 0)

def grant(path, rights):
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    mode = os.fstat(fd).st_mode
    # The target of a link is granted by itself, or not at all.
    if not stat.S_ISLNK(mode):
        if not stat.S_ISDIR(mode):
            rights &= FILE
        system('landlock_add_rule', 445, ruleset, 1, struct.pack('=Qi', rights & ALL, fd), 0)
    os.close(fd)

def devices():
    # Through disks and memory devices, root could read the hidden files.
    for name in os.listdir('/dev'):
        mode = os.lstat('/dev/' + name).st_mode
        if name in ('pts', 'shm', 'mqueue'):
            walk('/dev/' + name)
        elif stat.S_ISCHR(mode) and name not in ('mem', 'kmem', 'port'):
            grant('/dev/' + name, ALL)

def walk(path):
    if path == hidden:
        return
    if root and path in ('/proc', '/sys'):
        return grant(path, EXECUTE | READ | LIST)
    if root and path == '/dev':
        return devices()
    if path != '/' and not hidden.startswith(path + '/'):
        return grant(path, ALL)
    for name in os.listdir(path):
        walk(path.rstrip('/') + '/' + name)

walk('/')
grant('/', LIST)
if shown:
    grant(shown, EXECUTE | READ | LIST)
if not root and libc.prctl(38, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
    sys.exit('privileges could not be dropped')
system('landlock_restrict_self', 446, ruleset, 0)
os.close(ruleset)
if root:
    # Capabilities that change the kernel, read its memory or create devices.
    for capability in (16, 17, 19, 21, 22, 27, 38, 39):
        libc.prctl(24, ctypes.c_ulong(capability), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
# Python ignores these signals, and children inherit that.
for number in (13, 25):
    libc.signal(number, None)
try:
    os.execv(program, words)
except OSError as error:
    sys.exit(program + ': ' + error.strerror)
