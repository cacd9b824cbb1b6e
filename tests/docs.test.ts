import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../src/index.ts'
import { configKeys } from '../src/sources/check-cli-config.ts'
import { projectRoot } from './support/run-cli.ts'

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')

/** The relative links of a page whose file or heading does not exist. */
function brokenLinks(page: string): string[] {
  const links = Array.from(read(page).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g), ([, link = '']) => link)
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(projectRoot, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
}

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const text = read(page).replace(/^```[\s\S]*?^```$/gm, '')
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('documents', () => {
  it('have a current reference and requirement matrix', () => {
    execFileSync(process.execPath, ['scripts/write-reference.mjs', '--check'], { cwd: projectRoot })
  })

  it('name a test for every requirement and fault of what is built', () => {
    expect(read('docs/requirements.md')).toContain('| other | none |')
  })

  it('document every error code, and none that is gone', () => {
    const documented = [...read('docs/reference/errors.md').matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1])
    expect(documented).toEqual(Object.keys(errorTable))
  })

  it('use every error code somewhere', () => {
    const files = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!test)\.ts$/.test(file),
    )
    const code = files
      .filter((file) => !file.endsWith('base/errors.ts'))
      .map((file) => read(join('src', file)))
      .join('\n')
    const unused = Object.keys(errorTable).filter((name) => name !== 'INTERNAL' && !code.includes(`'${name}'`))
    expect(unused).toEqual([])
  })

  it('explain every key of a config', () => {
    const guide = read('docs/guides/configs.md')
    const { tools } = configKeys.inside ?? {}
    const keys = [configKeys.keys, tools?.keys, tools?.inside?.args?.keys].flatMap((shape) => Object.keys(shape ?? {}))
    expect(keys.filter((key) => !guide.includes(`\`${key}\``))).toEqual([])
  })

  it('keep README short', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150)
  })

  it('link to files and headings that exist', () => {
    const pages = readdirSync(projectRoot, { encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
    for (const folder of ['docs', 'examples', 'skill', 'training', 'benchmarks'])
      for (const name of readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }))
        if (name.endsWith('.md')) pages.push(join(folder, name))
    const broken = pages.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`))
    expect(pages.length).toBeGreaterThan(30)
    expect(broken).toEqual([])
  })

  it('show measured tables', () => {
    for (const name of ['startup', 'call', 'tool-index', 'tokens']) {
      expect(read('benchmarks/README.md')).toMatch(
        new RegExp(`<!-- ${name} -->\\n[\\s\\S]*\\|[\\s\\S]*Measured \\d{4}-[\\s\\S]*<!-- /${name} -->`),
      )
    }
  })
})

describe('examples', () => {
  it.each(readdirSync(join(projectRoot, 'examples')))('%s verifies itself', (name) => {
    execFileSync(process.execPath, [join('examples', name, 'verify.mjs')], { cwd: projectRoot, stdio: 'pipe' })
  })
})
