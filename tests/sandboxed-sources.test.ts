import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Levels } from '../src/executors/sandbox/levels.ts'
import { invoke } from '../src/operations/invoke.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { needs } from './support/needs.ts'
import { changingServer, openSources, tool } from './support/open-sources.ts'
import { projectRoot } from './support/run-cli.ts'
import { tempFolder } from './support/temp-folder.ts'

const levels = new Levels(process.env, false)
const available = { isolated: await levels.isolated.run(), confined: await levels.confined.run() }
const modules = join(projectRoot, 'node_modules')
const scriptOf = (name: string) => join(modules, `@modelcontextprotocol/server-${name}/dist/index.js`)
const areInstalled = existsSync(scriptOf('filesystem'))

type Opened = Awaited<ReturnType<typeof openSources>>

async function add({ request }: Opened, name: string, definition: object) {
  const added = await request('POST', '/sources', { body: { name, ...definition } })
  const { hash } = added.body.approval
  return { added, approved: (await request('POST', `/sources/${name}/approve`, { body: { hash } })).body }
}

async function call({ context }: Opened, name: string, args: object) {
  const answer = await invoke(callTool, { name, arguments: args }, context)
  if (!('outcome' in answer)) throw new Error('The call has not ended.')
  const { outcome } = answer
  return { text: JSON.stringify(outcome.output ?? outcome.errorMessage), isolation: outcome.isolation }
}

/** A folder that every user may use, with one file. */
function openFolder(name: string): string {
  const folder = tempFolder()
  chmodSync(folder, 0o777)
  writeFileSync(join(folder, name), `text of ${name}`)
  return folder
}

describe.each(['isolated', 'confined'] as const)('a source that runs %s', (isolation) => {
  const probed = available[isolation]
  const test = needs('made' in probed && areInstalled, `needs the level ${isolation} and the servers of npm ci`)

  test('sees the folder that its definition grants, and nothing else', async () => {
    const [granted, other] = [openFolder('granted.txt'), openFolder('other.txt')]
    const opened = await openSources({ allowFolders: [`${granted}:rw`, `${other}:rw`, modules] })
    const program = { command: process.execPath, args: [scriptOf('filesystem'), granted] }
    const { added, approved } = await add(opened, 'files', {
      ...program,
      isolation,
      folders: [modules, `${granted}:rw`],
    })
    expect(added.body.approval.command).toContain(`(${isolation}, no network, folders ${modules} ${granted}:rw)`)
    expect(approved).toMatchObject({ state: 'started', tools: 14, lastFailure: null })
    const read = await call(opened, 'files__read_text_file', { path: join(granted, 'granted.txt') })
    expect(read).toMatchObject({ text: expect.stringContaining('text of granted.txt'), isolation })
    await call(opened, 'files__write_file', { path: join(granted, 'new.txt'), content: 'written inside' })
    expect(readFileSync(join(granted, 'new.txt'), 'utf8')).toBe('written inside')
    // The same server, told to serve a folder that it was not granted.
    const blind = { command: process.execPath, args: [scriptOf('filesystem'), other], isolation, folders: [modules] }
    const { approved: blinded } = await add(opened, 'blind', blind)
    const listed = blinded.state === 'failed' ? '' : (await call(opened, 'blind__list_directory', { path: other })).text
    expect(listed).not.toContain('other.txt')
    const plan = await invoke(
      callTool,
      { name: 'files__list_allowed_directories', arguments: {}, dryRun: true },
      opened.context,
    )
    expect(plan).toMatchObject({ plan: { isolation } })
  })

  test('runs server-memory without any writable folder, and works again after it was killed', async () => {
    const opened = await openSources({ allowFolders: [modules] })
    const env = { MEMORY_FILE_PATH: '/tmp/memory.jsonl' }
    const program = { command: process.execPath, args: [scriptOf('memory')], isolation, folders: [modules] }
    const { approved } = await add(opened, 'memory', { ...program, ...(isolation === 'isolated' ? { env } : {}) })
    expect(approved).toMatchObject({ state: 'started', tools: 9 })
    if (isolation === 'confined') return
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
    await call(opened, 'memory__create_entities', { entities })
    expect((await call(opened, 'memory__read_graph', {})).text).toContain('writes programs')
    const ref = { workspace: 'default', name: 'memory' }
    const { pid } = opened.mcp.upstreams.sources?.known(ref)?.connection ?? {}
    process.kill(-(pid ?? Number.NaN), 'SIGKILL')
    // The program itself ends a moment after its sandbox, and may answer until then.
    await expect.poll(() => opened.mcp.upstreams.sources?.stateOf(ref)).toMatchObject({ isStarted: false })
    const again = await call(opened, 'memory__read_graph', {})
    expect(again.text).not.toContain('writes programs')
    expect(again.isolation).toBe(isolation)
  })
})

it('refuses folders and the network that the operator does not allow, each with what to do', async () => {
  const { definition } = changingServer({ tools: [tool('read')] })
  const opened = await openSources({ allowFolders: [`${modules}:ro`] })
  const wanted = { ...definition, isolation: 'isolated' }
  const outside = await add(opened, 'outside', { ...wanted, folders: ['/var/lib'] })
  const writable = await add(opened, 'writable', { ...wanted, folders: [`${modules}:rw`] })
  const online = await add(opened, 'online', { ...wanted, network: true })
  const reasonOf = ({ approved }: typeof outside) => approved.lastFailure?.reason
  if ('made' in available.isolated) {
    expect(reasonOf(outside)).toContain('/var/lib is not allowed')
    expect(reasonOf(writable)).toContain('is read-only on this server')
    expect(reasonOf(online)).toContain('requests network access')
  }
  const mixed = await opened.request('POST', '/sources', {
    body: { name: 'mixed', ...definition, isolation: 'limited', network: true },
  })
  expect(mixed).toMatchObject({ status: 422 })
})

it('needs the grants of its sandbox instead of host', async () => {
  const { definition } = changingServer({ tools: [tool('read')] })
  const opened = await openSources({ grants: ['default=mcp'] })
  const add = (body: object) => opened.request('POST', '/sources', { body: { ...definition, ...body } })
  expect((await add({ name: 'plain' })).body.hint).toContain('default=host')
  expect((await add({ name: 'confined', isolation: 'confined' })).body.hint).toContain('default=host')
  expect((await add({ name: 'isolated', isolation: 'isolated' })).status).toBe(201)
  expect((await add({ name: 'folders', isolation: 'isolated', folders: ['/srv'] })).body.hint).toContain('=folders')
  expect((await add({ name: 'network', isolation: 'isolated', network: true })).body.hint).toContain('=network')
})

it('is refused with the package to install where there is no bubblewrap', async () => {
  const { definition } = changingServer({ tools: [tool('read')] })
  const opened = await openSources({ PATH: tempFolder() })
  const { approved } = await add(opened, 'isolated', { ...definition, isolation: 'isolated' })
  expect(approved).toMatchObject({ state: 'failed', isApproved: true })
  expect(approved.lastFailure.reason).toMatch(
    /level isolated, which this machine does not support.*apt-get install bubblewrap/,
  )
})

it('takes the sandbox of a source from the flags of the command line', async () => {
  const opened = await openSources()
  const words = ['--isolation', 'isolated', '--folder', '/srv:rw', '--network', '--', 'node', 'server.js']
  const { err } = await opened.run('add', 'archive', ...words)
  expect(err).toContain('node server.js (isolated, with network, folders /srv:rw)')
  const { body } = await opened.request('GET', '/sources/archive')
  expect(body.server).toMatchObject({ isolation: 'isolated', folders: ['/srv:rw'], network: true })
})
