"""Lints Python programs without dependencies: syntax of Python 3.9, unused names, line length and white space."""
import ast
import sys

MAX_LINE = 120


def problems_of(text, name):
    try:
        tree = ast.parse(text, name, feature_version=(3, 9))
        compile(text, name, 'exec', dont_inherit=True)
    except SyntaxError as error:
        yield error.lineno, error.msg
        return
    yield from unused_names(tree)
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler) and handler.type is None:
            yield handler.lineno, 'a bare except also catches the end of the program: name the exception'
    for number, line in enumerate(text.split('\n'), 1):
        if len(line) > MAX_LINE:
            yield number, 'the line has %d characters, more than %d' % (len(line), MAX_LINE)
        if line != line.rstrip() or '\t' in line:
            yield number, 'trailing white space or a tab'


def unused_names(tree):
    """Imports and functions that nothing in the file refers to."""
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [(alias.asname or alias.name).split('.')[0] for alias in node.names]
        elif isinstance(node, ast.FunctionDef):
            names = [node.name]
        else:
            continue
        for name in names:
            if name not in used:
                yield node.lineno, "'%s' is never used" % name


def main(files):
    failed = False
    for file in files:
        with open(file, encoding='utf-8') as stream:
            for line, message in problems_of(stream.read(), file):
                print('%s:%s: %s' % (file, line, message))
                failed = True
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
