import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../src/base/logger.ts'
import { LiveCatalog } from '../../src/operations/catalog/live-catalog.ts'
import { createCliSource } from '../../src/sources/cli/index.ts'
import { connect, revisions } from '../support/connect.ts'
import { tempFolder } from '../support/temp-folder.ts'

const config = (...names: string[]) =>
  `command: echo\ntools:\n${names.map((name) => `  - {name: ${name}, description: d, command: ${name}}\n`).join('')}`
const broken = 'command: echo\ntools: [{name: half'

interface Live {
  readonly catalog: LiveCatalog
  readonly folder: string
  readonly lines: string[]
  names(): readonly string[]
  write(name: string, text: string): void
}

/** A catalog that watches two real files. */
function watchTwo(): Live {
  const folder = tempFolder()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('one.yaml', config('one_a', 'one_b'))
  write('two.yaml', config('two_a'))
  const lines: string[] = []
  const logger = createLogger({ level: 'WARNING', stderr: (line) => lines.push(line) })
  const source = createCliSource([join(folder, 'one.yaml'), join(folder, 'two.yaml')])
  const catalog = new LiveCatalog({ source, logger })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  catalog.watch(stop.signal)
  return {
    catalog,
    folder,
    lines,
    write,
    names: () =>
      catalog
        .current()
        .index.search({ limit: 1000 })
        .map(({ toolName }) => toolName),
  }
}

describe('fault 13: files that change while they are served', () => {
  const before = ['one_a', 'one_b', 'two_a']

  it('fault 13: a valid edit is applied', async () => {
    const live = watchTwo()
    live.write('two.yaml', config('two_b', 'two_c'))
    await expect.poll(live.names).toEqual(['one_a', 'one_b', 'two_b', 'two_c'])
    expect(live.lines).toEqual([])
  })

  it('fault 13: a file replaced by renaming another over it, as editors do, is taken over', async () => {
    const live = watchTwo()
    for (const round of ['x', 'y']) {
      live.write('.two.yaml.swp', config(`two_${round}`))
      renameSync(join(live.folder, '.two.yaml.swp'), join(live.folder, 'two.yaml'))
      await expect.poll(live.names).toEqual(['one_a', 'one_b', `two_${round}`])
    }
  })

  it.each<[string, (live: Live) => void, RegExp]>([
    ['a broken edit', (live) => live.write('two.yaml', broken), /two\.yaml:\d+:\d+: /],
    ['an emptied file', (live) => live.write('two.yaml', ''), /two\.yaml:1:1: the file is empty/],
    ['a deleted file', (live) => rmSync(join(live.folder, 'two.yaml')), /two\.yaml does not exist/],
    [
      'a file that became a folder',
      (live) => {
        rmSync(join(live.folder, 'two.yaml'))
        mkdirSync(join(live.folder, 'two.yaml'))
      },
      /two\.yaml is a folder/,
    ],
  ])('fault 13: after %s the previous tools stay active, and the reason is logged', async (_, spoil, says) => {
    const live = watchTwo()
    const snapshot = live.catalog.current()
    spoil(live)
    await expect.poll(() => live.lines.join('')).toMatch(says)
    expect(live.lines.at(-1)).toContain('the previous tools stay active')
    expect(live.catalog.current()).toBe(snapshot)
    expect(live.names()).toEqual(before)
    rmSync(join(live.folder, 'two.yaml'), { recursive: true, force: true })
    live.write('two.yaml', config('two_again'))
    await expect.poll(live.names).toEqual(['one_a', 'one_b', 'two_again'])
  })

  it('fault 13: a reader during a reload sees all of the old or all of the new', async () => {
    const live = watchTwo()
    const tools = await live.catalog.open()
    const generations = ['a', 'b', 'c', 'd', 'e']
    let looking = true
    const seen = new Set<string>()
    const look = (async () => {
      while (looking) {
        const listed = tools.list().map(({ tool }) => tool.name)
        expect(live.names()).toEqual(listed)
        for (const name of listed) expect(tools.find(name)?.runnable?.name).toBe(name)
        seen.add(listed.join())
        await sleep(1)
      }
    })()
    for (const generation of generations) {
      live.write('two.yaml', config(...Array.from({ length: 50 }, (_, number) => `${generation}_${number}`)))
      await expect.poll(() => live.names().includes(`${generation}_49`)).toBe(true)
    }
    await expect.poll(() => seen.size).toBe(1 + generations.length)
    looking = false
    await look
    for (const names of seen)
      expect(
        new Set(
          names
            .split(',')
            .slice(2)
            .map((name) => name[0]),
        ).size,
      ).toBe(1)
  })

  it('fault 13: a file written in many small steps is read when it is done', async () => {
    const live = watchTwo()
    const text = config(...Array.from({ length: 40 }, (_, number) => `two_${number}`))
    for (let end = 0; end < text.length; end += 200) {
      live.write('two.yaml', text.slice(0, end + 200))
      await sleep(5)
    }
    await expect.poll(() => live.names().length).toBe(42)
  })
})

describe('fault 13: over MCP', () => {
  it.each(revisions)(
    'fault 13 (%s): run --watch keeps the old tools through a broken edit and a deletion, and takes a good edit',
    async (revision) => {
      const folder = tempFolder()
      const file = join(folder, 'tools.yaml')
      writeFileSync(file, config('first'))
      const { client, stderr } = await connect(['--watch', '--classic', file], { revision })
      const names = async () => (await client.listTools()).tools.map((tool) => tool.name)
      const call = async (name: string) => (await client.callTool({ name, arguments: {} })).content
      expect(await names()).toEqual(['first'])

      writeFileSync(file, broken)
      await expect.poll(stderr).toMatch(/the previous tools stay active: .*tools\.yaml:\d+:\d+: /)
      expect(await names()).toEqual(['first'])
      expect(await call('first')).toEqual([{ type: 'text', text: 'first' }])

      rmSync(file)
      await expect.poll(stderr).toContain('tools.yaml does not exist')
      expect(await call('first')).toEqual([{ type: 'text', text: 'first' }])

      writeFileSync(file, config('first', 'second'))
      await expect
        .poll(async () => (await call('second').catch(() => [])) as unknown[])
        .toEqual([{ type: 'text', text: 'second' }])
    },
  )
})
