import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findProseMatches } from './support/find-prose-matches.ts'
import { withSources, withTexts } from './support/parse-sources.ts'
import { projectRoot } from './support/run-cli.ts'

/**
 * Files that may match on a text, with the reason: libraries whose errors have no code for the case, and comparisons that
 * stay right however the texts are worded.
 */
const proseReaders: Readonly<Record<string, string>> = {
  'documents/yaml-errors.ts': 'the YAML parser has one code for several mistakes',
  'storage/failures.ts': 'PostgreSQL and poolers name values and limits in their text only',
  'base/errors.ts': 'the standard hint of an error of another process is recognized by the table itself',
  'diagnostics/problem-error.ts': 'a message that names the field is not prefixed with it again',
  'surfaces/text/result-text.ts': 'the exit code has a line of its own, so the sentence made from it is left out',
  'surfaces/cli/report-error.ts': 'a problem that the message repeats is not printed twice',
}

/** Names that several files export with different meanings; no name may be added. */
const sharedNames = new Set<string>()

/** Words that `docs/concepts.md` replaces, with the folders and files that still have them; none may be added. */
const bannedWords: Readonly<Record<string, readonly string[]>> = {
  mend: [],
  mends: [],
  mended: [],
  mending: [],
  told: ['src/sources'],
  tells: ['src/sources'],
  whoever: ['src/sources'],
  walled: [],
  aside: ['src/sources'],
  spoilt: [],
  doubts: ['src/sources'],
  twins: [],
  caretaker: [],
  strangers: [],
}

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const listFiles = (folder: string, ending: string) =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !/\.(test|suite)\.ts$/.test(file))
    .map((file) => `${folder}/${file}`)
const foldersBelow = (folder: string) =>
  readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`${folder}/${entry.name}`] : [],
  )

describe('code that reads prose', () => {
  it('is in no file but those listed', () => {
    const found = withSources((files) => {
      expect(files.size).toBeGreaterThan(400)
      return [...files].flatMap(([name, file]) => findProseMatches(file).map((match) => ({ name, match })))
    })
    const readers = new Set(found.map(({ name }) => name))
    expect(found.filter(({ name }) => !(name in proseReaders))).toEqual([])
    expect(Object.keys(proseReaders).filter((name) => !readers.has(name))).toEqual([])
  })

  it('is found', () => {
    const offenders = [
      "if (error.hint.includes('DATABASE_URL')) retry()",
      "const { message } = error; message.startsWith('Fix')",
      "const { message: text } = error; text.endsWith('?')",
      'const text = (error as Error).message.toLowerCase(); /not found/.test(text)',
      'const [, name] = /named (.*)/.exec(error.detail ?? "") ?? []',
      "if (error.message === 'gone') retry()",
      'const next = actions[problem.hint]',
      "switch (error.message) { case 'gone': retry() }",
      "['gone', 'lost'].includes(error.message)",
      "withoutPeriod(outcome.errorMessage).replace('Command', 'Script')",
    ]
    const others = [
      "error.code.startsWith('28')",
      "if (error.hint === undefined || error.message === '') retry()",
      'const line = error.message.slice(0, 100)',
      "problem.kind === 'required'",
    ]
    const found = withTexts([...offenders, ...others], (files) =>
      [...files].filter(([, file]) => findProseMatches(file).length > 0).map(([text]) => text),
    )
    expect(found).toEqual(offenders)
  })
})

describe('exported names', () => {
  const exported = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm
  const declaredIn = (files: ReadonlyMap<string, string>) => {
    const places = new Map<string, Set<string>>()
    for (const [file, text] of files)
      for (const [, name = ''] of text.matchAll(exported)) places.set(name, (places.get(name) ?? new Set()).add(file))
    return places
  }
  const shared = (files: ReadonlyMap<string, string>) =>
    [...declaredIn(files)].filter(([, places]) => places.size > 1).map(([name]) => name)

  it('are declared in one file of src each', () => {
    const files = new Map(listFiles('src', '.ts').map((file) => [file, read(file)]))
    expect(declaredIn(files).size).toBeGreaterThan(1000)
    expect(shared(files).filter((name) => !sharedNames.has(name))).toEqual([])
  })

  it('are found in two files, and a type with its schema is not', () => {
    const one = 'export const Tool = z.object({})\nexport type Tool = z.infer<typeof Tool>\nexport function run() {}\n'
    expect(shared(new Map([['a.ts', one]]))).toEqual([])
    expect(
      shared(
        new Map([
          ['a.ts', one],
          ['b.ts', 'export async function run() {}\n'],
        ]),
      ),
    ).toEqual(['run'])
  })
})

describe('ARCHITECTURE.md and CONTRIBUTING.md', () => {
  /** The paths in a text: in backquotes, with a slash; `{a,b}` are several, and `<kind>` is any. */
  const pathsIn = (text: string) =>
    [...text.matchAll(/`([\w.<{][\w.<>{},/-]*\/[\w.<>{},/-]*)`/g)].flatMap(([, path = '']) => {
      const [, before = '', choices = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? ['', path]
      return choices.split(',').map((choice) => `${before}${choice}${after}`.replace(/<.*$/, ''))
    })
  const isThere = (path: string) => [path, `src/${path}`].some((each) => existsSync(join(projectRoot, each)))

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names paths that exist', (file) => {
    const paths = pathsIn(read(file))
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('sees every path', () => {
    expect(pathsIn('`base/x.ts`, `a/{b,c}.ts`, `executors/<kind>/`, `defineOperation`, `.ci/run`')).toEqual([
      'base/x.ts',
      'a/b.ts',
      'a/c.ts',
      'executors/',
      '.ci/run',
    ])
    expect(isThere('executors/cli/no-such-file.ts')).toBe(false)
  })

  it('lists every folder of src', () => {
    const text = read('ARCHITECTURE.md')
    const folders = foldersBelow('src').flatMap((folder) => [folder, ...foldersBelow(folder)])
    expect(folders.length).toBeGreaterThan(30)
    expect(folders.filter((folder) => !new RegExp(`\\b${folder.split('/').at(-1)}/`).test(text))).toEqual([])
  })
})

describe('banned words', () => {
  const wordsOf = (text: string) =>
    new Set(
      text
        .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .match(/[a-z]+/g),
    )
  const files = [
    ...listFiles('src', '.ts'),
    ...listFiles('docs', '.md').filter((file) => !/(concepts|requirements)\.md$/.test(file)),
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'],
  ]

  it('are in no folder but those listed', () => {
    expect(files.length).toBeGreaterThan(400)
    const found = files.flatMap((file) => {
      const words = wordsOf(read(file))
      const isListed = (places: readonly string[]) => places.some((place) => `${file}/`.startsWith(`${place}/`))
      return Object.entries(bannedWords).flatMap(([word, places]) =>
        words.has(word) && !isListed(places) ? [`${file}: ${word}`] : [],
      )
    })
    expect(found).toEqual([])
  })

  it('are found in names and in sentences', () => {
    expect([...wordsOf('const toldTwice = mend() // Whoever asks')]).toEqual(
      expect.arrayContaining(['told', 'mend', 'whoever']),
    )
  })
})
