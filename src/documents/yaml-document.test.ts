import { describe, expect, it } from 'vitest'
import { parseYaml } from './yaml-document.ts'

const text = `# A config.
name: git-tools
env:
  A: "1"
empty:
tools:
  - name: git_log
    args:
      - name: max_count
        default: 10
  - {name: git_status, args: []}
`

const locate = (path: readonly PropertyKey[], at?: 'key' | 'value') => {
  const { line, column } = parseYaml(text, 'f.yaml').locate(path, at)
  return `${line}:${column}`
}

const problemsOf = (source: string) => parseYaml(source, 'f.yaml').problems

describe('parseYaml', () => {
  it('reads the data', () => {
    const { value, problems } = parseYaml(text, 'f.yaml')
    expect(problems).toEqual([])
    expect(value).toMatchObject({
      name: 'git-tools',
      env: { A: '1' },
      empty: null,
      tools: [{ name: 'git_log' }, { args: [] }],
    })
  })

  it.each([
    [[], '2:1'],
    [['name'], '2:7'],
    [['env', 'A'], '4:6'],
    [['tools'], '7:3'],
    [['tools', 0], '7:5'],
    [['tools', 0, 'name'], '7:11'],
    [['tools', 0, 'args', 0, 'default'], '10:18'],
    [['tools', 1], '11:5'],
    [['tools', 1, 'name'], '11:12'],
    [['tools', 1, 'args'], '11:30'],
  ])('returns the position of the value at %j', (path, place) => {
    expect(locate(path)).toBe(place)
  })

  it('knows where keys stand', () => {
    expect(locate(['env', 'A'], 'key')).toBe('4:3')
    expect(locate(['tools', 0, 'args', 0, 'default'], 'key')).toBe('10:9')
  })

  it('points at what should hold a value that is missing', () => {
    expect(locate(['description'])).toBe('2:1')
    expect(locate(['tools', 0, 'description'])).toBe('7:5')
    expect(locate(['tools', 0, 'args', 7, 'name'])).toBe('9:7')
    expect(locate(['name', 'deeper', 'still'])).toBe('2:7')
  })

  it('points at the line of an empty value', () => {
    expect(parseYaml(text, 'f.yaml').locate(['empty']).line).toBe(5)
  })

  it.each([
    ['a: 1\na: 2\n', 2, 1, /unique/],
    ['a: [1, 2\nb: 3\n', 2, 1, /./],
    ['a: 1\n b: 2\n', 2, 2, /indentation/],
    ['a: "x\n', 2, 1, /closing|quote/i],
    ['a: 1\n---\nb: 2\n', 2, 1, /documents/],
    ['x: 1\ny: !!js/function "f"\n', 2, 4, /tag/],
    ['x: !secret y\n', 1, 4, /tag/],
    ['a: *nobody\n', 1, 4, /the alias \*nobody refers to an anchor that is not defined/],
    ['a: *x\nb: &x 1\n', 1, 4, /the alias \*x refers to an anchor that is not defined/],
    ['a: &x [*x]\n', 1, 8, /the alias \*x refers to a node that contains it/],
    ['a: &x\n  b: {c: *x}\n', 2, 10, /the alias \*x refers to a node that contains it/],
    ['a:\n  __proto__: {b: 1}\n', 2, 3, /'__proto__' is not allowed/],
    ['constructor: 1\n', 1, 1, /'constructor' is not allowed/],
    ['\ta: 1\n', 1, 1, /tab/i],
  ])('reports the error in %j with its position', (source, line, column, message) => {
    const [problem] = problemsOf(source)
    expect(problem).toMatchObject({ severity: 'error', file: 'f.yaml', line, column })
    expect(problem?.message).toMatch(message)
  })

  it('reports every mistake of a text', () => {
    expect(problemsOf('a: 1\na: 2\nb: 1\nb: 2\n').map((problem) => problem.line)).toEqual([2, 4])
  })

  it.each([
    ['brackets', `a: 1\nb: ${'['.repeat(300)}`],
    ['braces', `a: 1\nb: ${'{a: '.repeat(300)}`],
    ['dashes', `a: 1\n${'- '.repeat(300)}`],
    ['a hundred thousand levels', `a: 1\n${'['.repeat(100_000)}`],
  ])('refuses %s nested too deeply, with its line', (_, source) => {
    const [problem, ...others] = problemsOf(source)
    expect(others).toEqual([])
    expect(problem).toMatchObject({ line: 2, message: 'is nested more than 200 levels deep' })
  })

  it('does not count brackets that close', () => {
    expect(problemsOf(`a: [${'[1], '.repeat(500)}]`)).toEqual([])
  })

  it.each([
    ['brackets', '['.repeat(500)],
    ['dashes', '- '.repeat(500)],
    ['pairs', 'a: '.repeat(1000)],
    ['blanks', `a${'\\n'}${' '.repeat(900)}`],
  ])('does not count %s in a text', (_, shown) => {
    expect(problemsOf(`a: "${shown}"\nb: |\n  x\n  ${shown}\n`)).toEqual([])
  })

  it('finds a key that is there twice among very many', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join('')
    expect(problemsOf(`${keys}k7: 2\n`)).toMatchObject([{ line: 20_001, column: 1 }])
  })

  it('refuses aliases that multiply', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}]`,
    )
    const [problem] = problemsOf(['l0: &l0 [x]', ...levels].join('\n'))
    expect(problem?.message).toBe('expands more than 1000 aliases')
  })

  it('resolves an alias, and reports its position', () => {
    const document = parseYaml('a: &x {n: 1}\nb: *x\n', 'f.yaml')
    expect(document.value).toEqual({ a: { n: 1 }, b: { n: 1 } })
    expect(document.locate(['b', 'n'])).toEqual({ line: 2, column: 4 })
  })

  it.each([
    ['no', 'no'],
    ['yes', 'yes'],
    ['on', 'on'],
    ['true', true],
    ['~', null],
    ['0o17', 15],
    ['017', 17],
    ['1e3', 1000],
    ['0x1f', 31],
    ['1_000', '1_000'],
    ['2026-02-21', '2026-02-21'],
    ['12:30:45', '12:30:45'],
    ['.5', 0.5],
  ])('types %s as YAML 1.2 does', (source, expected) => {
    expect(parseYaml(`v: ${source}\n`, 'f.yaml').value).toEqual({ v: expected })
  })

  it('reads Windows line ends and a byte order mark', () => {
    const document = parseYaml('\ufeffa: 1\r\nb: 2\r\n', 'f.yaml')
    expect(document.value).toEqual({ a: 1, b: 2 })
    expect(document.locate(['b'])).toEqual({ line: 2, column: 4 })
  })

  it.each(['', '\n', '# only a comment\n'])('reads %j as nothing', (source) => {
    const document = parseYaml(source, 'f.yaml')
    expect(document).toMatchObject({ value: null, problems: [] })
    expect(document.locate([])).toEqual({ line: 1, column: 1 })
  })
})

describe('a line that begins in the wrong column', () => {
  it.each([
    ['tools:\n  - name: a\n   description: b\n', 3, 4],
    ['name: a\n  description: x\n', 2, 3],
    ['tools:\n  - name: a\n      description: b\n', 3, 7],
    ['tools:\n    - name: a\n      description: b\n  - name: c\n', 4, 3],
  ])('is an error of indentation, at that line: %j', (source, line, column) => {
    expect(problemsOf(source)).toEqual([
      expect.objectContaining({ line, column, message: 'the indentation does not match the lines before' }),
    ])
  })

  it('is not blamed for a colon that is missing or one too many', () => {
    for (const source of ['name: a\ncommand\ntools: []\n', 'name: a: b\n'])
      expect(problemsOf(source)[0]?.message).toContain('expected one key with its value')
  })
})
