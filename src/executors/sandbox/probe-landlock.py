# The self-test of the Landlock confinement, run inside of it. Each function is an attack that must fail; a successful
# attack prints a line.
#
#   arguments: CANARY PORT SERVER     a file of the machine, a port that listens, and the process id of the server
import ctypes, os, socket, sys
canary, port, server = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def connect():
    with socket.socket() as line:
        line.connect(('127.0.0.1', port))
def any_open():
    for fd in range(3, 256):
        try:
            return os.fstat(fd)
        except OSError:
            pass
    raise OSError
def system(*words):
    if libc.syscall(*map(ctypes.c_long, words)) < 0:
        raise OSError
def privileges():
    if libc.prctl(39, 0, 0, 0, 0) == 1:
        raise OSError
def capabilities():
    held = ctypes.create_string_buffer(24)
    libc.capget((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), held)
    if not any(held.raw[:8]):
        raise OSError
def root():
    if os.geteuid() != 0:
        raise OSError
held = {
    'files of the machine can be read': lambda: open(canary),
    'files of the machine can be written': lambda: open(canary, 'a'),
    'files of the machine can be removed': lambda: os.remove(canary),
    'folders of the machine can be listed': lambda: os.listdir(os.path.dirname(canary)),
    'the system is writable': lambda: open('/usr/tooldex-trial', 'w'),
    'processes of the machine are visible': lambda: os.listdir('/proc'),
    'the server can be signalled': lambda: os.kill(server, 0),
    'the keeper can be signalled': lambda: os.kill(os.getppid(), 0),
    'there is a network': connect,
    'services of the machine can be reached': lambda: socket.socket(socket.AF_UNIX),
    'open files were left': lambda: any_open(),
    'namespaces can be made': lambda: system(272 if os.uname().machine == 'x86_64' else 97, 0),
    'privileges can be gained': privileges,
    'capabilities are left': capabilities,
    'it is root': root,
}
for what, attempt in held.items():
    try:
        attempt()
        print(what)
    except OSError:
        pass
with open('trial', 'w') as file:
    file.write('x')
os.mkdir('folder')
os.rename('trial', 'folder/trial')
with open('/dev/null', 'w') as file:
    file.write('x')
print('tried')
