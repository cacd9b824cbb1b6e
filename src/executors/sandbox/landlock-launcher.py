# Confines another program: Node cannot make these system calls, and every machine that runs scripts has a Python. On
# any failure, the program is not started and the reason is reported.
#
#   tooldex -- keeper -- program
#
# The keeper stays. It is in a Landlock domain that no signal leaves, and the program in a nested one from which none
# reaches the keeper: so `kill(-1)` by the keeper reaches all processes of the run, detached ones included, and no
# others. The keeper also adopts orphans, and ends when there are none. When the control stream closes, because the
# server ended for any reason, it ends the run.
#
#   fd 4: length \n name \0 value \0 name \0 value ..., then any byte for SIGTERM; its end for SIGKILL
#   fd 5: `started`, `ended STATUS`, or `failed WHY`
import ctypes, os, resource, select, struct
control, report_fd = 4, 5
libc = ctypes.CDLL(None, use_errno=True)
(
    EXECUTE, WRITE, READ, LIST, RMDIR, REMOVE, CHAR, MKDIR, CREATE, SOCK, FIFO, BLOCK, LINK, REFER, TRUNCATE, IOCTL,
) = (1 << n for n in range(16))
RIGHTS = {
    'run': EXECUTE | READ | LIST,
    'read': READ | LIST,
    'device': READ | WRITE | TRUNCATE,
    'move': REFER,
    'work': EXECUTE | WRITE | READ | LIST | RMDIR | REMOVE | MKDIR | CREATE | FIFO | LINK | REFER | TRUNCATE,
}
RIGHTS['write'] = RIGHTS['work']
FILE = EXECUTE | WRITE | READ | TRUNCATE
BIND, CONNECT = 1, 2
ABSTRACT, SIGNALS = 1, 2
NEEDED = 6
# Importing the module signal would take longer than all the rest.
KILL, PIPE, TERM, XFSZ = 9, 13, 15, 25

def report(text):
    try:
        os.write(report_fd, text.encode('utf-8', 'backslashreplace')[:1000] + b'\n')
    except OSError:
        pass

def sure(what, result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, what + ': ' + os.strerror(code))
    return result

def system(what, *words):
    return sure(what, libc.syscall(*[ctypes.c_long(word) if isinstance(word, int) else word for word in words]))

def prctl(what, *words):
    args = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in words]
    sure(what, libc.prctl(*args, *[ctypes.c_ulong(0)] * (5 - len(words))))

def read_policy():
    def exactly(size):
        data = b''
        while len(data) < size:
            part = os.read(control, size - len(data))
            if not part:
                os._exit(125)
            data += part
        return data
    head = exactly(9)
    words = exactly(int(head)).split(b'\0')
    policy = {}
    for name, value in zip(words[0::2], words[1::2]):
        policy.setdefault(name.decode(), []).append(value)
    return policy

def require_landlock():
    version = libc.syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1))
    if version < 0:
        raise OSError(0, 'the kernel has no Landlock, or it is disabled')
    if version < NEEDED:
        text = 'the kernel has Landlock version %d, but version %d is required (Linux 6.12)'
        raise OSError(0, text % (version, NEEDED))

def become(user):
    if user is not None:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError as error:
            raise OSError(error.errno, 'cannot become another user: ' + error.strerror)
    prctl('PR_CAP_AMBIENT', 47, 4)
    sure('capset', libc.capset(struct.pack('=Ii', 0x20080522, 0), bytes(24)))
    prctl('PR_SET_NO_NEW_PRIVS', 38, 1)

def restrict(rules, fs, net, scoped):
    attr = struct.pack('=QQQ', fs, net, scoped)
    ruleset = system('landlock_create_ruleset', 444, attr, len(attr), 0)
    for kind, path, must in rules:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            if must:
                raise
            continue
        rights = RIGHTS[kind]
        if not os.path.isdir(path):
            rights &= FILE
        system('landlock_add_rule', 445, ruleset, 1, struct.pack('=Qi', rights, fd), 0)
        os.close(fd)
    system('landlock_restrict_self', 446, ruleset, 0)
    os.close(ruleset)

def require_scope(parent):
    try:
        os.kill(parent, 0)
    except PermissionError:
        return
    raise OSError(0, 'signals are not blocked')

def rules_of(policy):
    for kind in ('run', 'read', 'device', 'work', 'write'):
        for path in policy.get(kind, ()):
            yield kind, path, True
        for path in policy.get('maybe-' + kind, ()):
            yield kind, path, False

def set_limits(words):
    for word in words:
        name, soft, hard = word.decode().split(' ')
        limit = getattr(resource, name)
        maximum = resource.getrlimit(limit)[1]
        bound = lambda value: value if maximum == resource.RLIM_INFINITY else min(value, maximum)
        resource.setrlimit(limit, (bound(int(soft)), bound(int(hard))))

def set_filter(text):
    program = bytes.fromhex(text.decode())
    buffer = ctypes.create_string_buffer(program, len(program))
    class Filter(ctypes.Structure):
        _fields_ = [('length', ctypes.c_ushort), ('program', ctypes.c_void_p)]
    prctl('seccomp', 22, 2, ctypes.byref(Filter(len(program) // 8, ctypes.addressof(buffer))))

def easier_to_end():
    # When memory runs out, the kernel must kill the program, never its keeper.
    try:
        prctl('PR_SET_DUMPABLE', 4, 1)
        with open('/proc/self/oom_score_adj', 'w') as file:
            file.write('500')
    except OSError:
        pass

def start(policy, keeper):
    os.setsid()
    prctl('PR_SET_PDEATHSIG', 1, KILL)
    if os.getppid() != keeper:
        os._exit(125)
    os.close(control)
    if 'channel' not in policy:
        os.closerange(3, 4)
    easier_to_end()
    os.chdir(policy['cwd'][0])
    net = 0 if 'network' in policy else BIND | CONNECT
    restrict(rules_of(policy), (1 << 16) - 1, net, ABSTRACT | SIGNALS)
    require_scope(keeper)
    env = dict(word.split(b'=', 1) for word in policy.get('env', ()))
    # Python ignores these signals, and children inherit that.
    for number in (PIPE, XFSZ):
        libc.signal(number, None)
    set_limits(policy['limit'])
    set_filter(policy['filter'][0])
    report('started')
    try:
        os.execve(policy['program'][0], policy['word'], env)
    except OSError as error:
        report('exec %d' % error.errno)
        os._exit(125)

def end_all(name):
    try:
        os.kill(-1, name)
    except OSError:
        pass

def keep(child, work):
    null = os.open('/dev/null', os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, 4)
    ended, alone = os.pidfd_open(child), False
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if ended in ready:
            break
        try:
            data = os.read(control, 64)
        except OSError:
            data = b''
        alone = not data
        if alone:
            break
        end_all(TERM)
    status = 0
    while True:
        end_all(KILL)
        try:
            pid, how = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        if pid == child:
            status = how
    if alone:
        # The server, which removes it otherwise, may have ended.
        import shutil
        shutil.rmtree(work, ignore_errors=True)
    report('ended %d' % status)

def run():
    for fd in (control, report_fd):
        os.set_inheritable(fd, False)
    system('close_range', 436, report_fd + 1, 0x7FFFFFFF, 0)
    policy = read_policy()
    parent = os.getppid()
    require_landlock()
    become(int(policy['user'][0]) if 'user' in policy else None)
    prctl('PR_SET_CHILD_SUBREAPER', 36, 1)
    # A domain that does not handle REFER would forbid moving files between folders.
    restrict([('move', '/', True)], REFER, 0, SIGNALS)
    require_scope(parent)
    keeper = os.getpid()
    child = os.fork()
    if child:
        return keep(child, policy['work'][0])
    try:
        start(policy, keeper)
    except BaseException as error:
        report('failed ' + (getattr(error, 'strerror', None) or str(error) or type(error).__name__))
    os._exit(125)

try:
    run()
    os._exit(0)
except BaseException as error:
    report('failed ' + (getattr(error, 'strerror', None) or str(error) or type(error).__name__))
    os._exit(125)
