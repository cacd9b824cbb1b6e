# Runs a stored script. It reads the script and its arguments from stdin, calls `main`, and writes the result to a
# stream of its own, after a nonce that the script does not have: printed text can never pass for a result.
#
#   stdin: {"nonce", "script": bytes, "env", "path"} \n script, then the arguments as JSON
#   fd 3:  nonce \n {"value": ...} or {"error": ...}
import sys
def run():
    import json, os, re
    from types import ModuleType
    dumps, write, leave, name, channel = json.dumps, os.write, os._exit, 'script.py', 3
    getpid, own = os.getpid, os.getpid()
    with open(0, 'rb', closefd=False) as stream:
        data = stream.read()
    null = os.open('/dev/null', os.O_RDONLY)
    os.dup2(null, 0)
    os.closerange(4, 65536)
    os.set_inheritable(channel, False)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding='utf-8', errors='backslashreplace', line_buffering=True)
    head, _, rest = data.partition(b'\n')
    head = json.loads(head)
    nonce, size = head['nonce'], head['script']
    source, arguments = rest[:size].decode('utf-8'), json.loads(rest[size:])
    os.environ.update(head['env'])
    if head['path']:
        sys.path.append(head['path'])
    sys.argv = [name]
    del data, rest, head, stream

    def report(answer, code):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        # Processes that the script forked cannot write its result.
        if getpid() != own:
            leave(code)
        text = memoryview((nonce + '\n' + answer).encode('ascii'))
        while text:
            text = text[write(channel, text):]
        leave(code)

    largest = re.compile('[0-9]{16}')

    def refuse_large(value):
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 9007199254740991:
            raise ValueError('an integer beyond 9007199254740991 would lose precision in JSON; return it as a string')
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for each in value:
                refuse_large(each)

    def explain(error):
        line, where, frame = None, None, error.__traceback__
        while frame is not None:
            code = frame.tb_frame.f_code
            if code.co_filename == name:
                line, where = frame.tb_lineno, code.co_name
            frame = frame.tb_next
        message = ''
        if isinstance(error, SyntaxError) and error.filename == name:
            line, where, message = error.lineno, None, error.msg
        else:
            try:
                message = str(error)
            except BaseException:
                pass
        lines = source.split('\n')
        text = lines[line - 1].strip() if line and line <= len(lines) else ''
        errno = error.errno if isinstance(error, OSError) and isinstance(error.errno, int) else None
        file = error.filename[:2000] if errno is not None and isinstance(error.filename, str) else None
        return {
            'type': type(error).__name__, 'message': message[:2000], 'line': line, 'where': where, 'text': text[:200],
            'errno': errno, 'file': file,
        }

    try:
        module = ModuleType('tool')
        module.__file__ = name
        sys.modules['tool'] = module
        exec(compile(source, name, 'exec', dont_inherit=True), module.__dict__)
        value = module.main(arguments)
        if hasattr(value, '__await__'):
            import asyncio
            async def wait():
                return await value
            value = asyncio.run(wait())
        try:
            answer, code = dumps({'value': value}, allow_nan=False), 0
            # Readers of JSON have 53 bits for an integer; checking the text first spares most results the walk.
            if largest.search(answer):
                refuse_large(value)
        except (TypeError, ValueError, RecursionError) as error:
            answer, code = dumps({'error': {'type': 'result', 'message': str(error)[:500]}}), 1
    except BaseException as error:
        answer, code = dumps({'error': explain(error)}), 1
    report(answer, code)
run()
