import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { TooldexError } from '../src/base/errors.ts'
import { silentLogger } from '../src/base/logger.ts'
import { invoke } from '../src/operations/invoke.ts'
import { exportBundle, importBundle } from '../src/operations/registry/bundles.ts'
import { ensureSecretKey, secretKeySourceOf } from '../src/operations/registry/secret-key.ts'
import { createLocalClient, type RegistryClient } from '../src/operations/registry-client/registry-client.ts'
import { describeTools } from '../src/operations/search/describe-tools.ts'
import { createSecretBox } from '../src/secrets/index.ts'
import { describeText } from '../src/surfaces/mcp/response-text.ts'
import { openRegistry } from './support/open-registry.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

let world: Awaited<ReturnType<typeof openRegistry>>
let client: RegistryClient
beforeAll(async () => {
  world = await openRegistry()
  client = createLocalClient(world.context)
})
afterAll(() => world.close())
const run = (...words: string[]) => runInProcess(words, { openRegistry: async () => client })

const toolFile = (name: string, more = '') =>
  tempFile(
    `${name}.yaml`,
    `name: ${name}\ndescription: Looks something up.\ninputSchema: { type: object, properties: {} }\nexecutorType: http\nexecutorConfig: { method: GET, url: "https://example.com/" }\n${more}`,
  )

describe('tooldex tools create', () => {
  it('derives the display name where there is none', async () => {
    expect((await run('tools', 'create', toolFile('send_daily_report'), '--json')).code).toBe(0)
    expect(JSON.parse((await run('tools', 'get', 'send_daily_report')).out)).toMatchObject({
      displayName: 'Send daily report',
    })
    const bundle = await invoke(exportBundle, {}, world.context)
    const { displayName: _, ...tool } = { ...bundle.tools[0], name: 'second_tool' } as Record<string, unknown>
    await invoke(importBundle, { bundle: { tooldex: 1, tools: [tool] } }, world.context)
    expect(JSON.parse((await run('tools', 'get', 'second_tool')).out)).toMatchObject({ displayName: 'Second tool' })
    const empty = await run('tools', 'create', toolFile('third_tool', 'displayName: ""\n'))
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('displayName')])
  })

  it('activates at once with --activate, and keeps the draft where it cannot', async () => {
    const { out } = await run('tools', 'create', toolFile('look_up'), '--activate')
    expect(out).toBe('look_up is ACTIVE, version 1.\n')
    const createWith = (name: string, error: TooldexError) => {
      const rejecting: RegistryClient = {
        ...client,
        invoke(operation, input) {
          if (operation.name === 'registry.activate') throw error
          return client.invoke(operation, input)
        },
      }
      return runInProcess(['tools', 'create', toolFile(name), '--activate'], { openRegistry: async () => rejecting })
    }
    const failed = await createWith('stays_draft', new TooldexError('TOOL_INVALID', 'The script is missing.'))
    expect([failed.code, failed.err]).toEqual([
      2,
      expect.stringMatching(/stays_draft is registered as a draft and was not activated: The script is missing\./),
    ])
    expect(failed.err).toContain('next: Fix it with: tooldex tools edit stays_draft; then run: tooldex tools activate')
    const hint = 'Check names and versions. Without a network, run: PIP_NO_INDEX=1 tooldex envs build six'
    const offline = new TooldexError('PACKAGES_MISSING', 'The packages could not be installed.', { hint })
    const { err } = await createWith('needs_packages', offline)
    expect(err).toContain(`next: ${hint}; then run: tooldex tools activate needs_packages`)
    expect(err).not.toContain('tools edit')
    expect(JSON.parse((await run('tools', 'get', 'stays_draft')).out)).toMatchObject({ status: 'DRAFT' })
  })
})

describe('an example with a title and without arguments', () => {
  it('is no warning, and is shown with its title on the command line and to models', async () => {
    const file = toolFile('with_example', 'examples: [ { title: Simple, description: Just call it } ]\n')
    expect(await run('tools', 'create', file, '--activate')).toMatchObject({ code: 0, err: '' })
    const own = { openRegistry: async () => client, registryExists: () => true }
    const { out } = await runInProcess(['describe', 'with_example'], own)
    expect(out).toContain('\nSimple - Just call it\n')
    const described = await invoke(describeTools, { ids: ['with_example'], level: 'full' }, world.context)
    expect(describeText(described)).toContain('\nExample: Simple - Just call it')
  })
})

describe('tooldex envs list', () => {
  it('ends with a newline', async () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'weather'))
    vi.stubEnv('TOOLDEX_PYTHON_ENVS', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await run('envs', 'list')).out).toMatch(/weather .*\n$/)
  })
})

describe('the key for stored secrets', () => {
  const none = { list: async () => [] } as never

  it('is made once, for its owner only, and opens what it sealed', async () => {
    const env = { TOOLDEX_HOME: join(tempFolder(), 'home') }
    const file = join(env.TOOLDEX_HOME, 'secret.key')
    expect(await ensureSecretKey(env, { secrets: none }, silentLogger)).toBe(file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const sealed = createSecretBox(secretKeySourceOf(env)).seal('value')
    expect(await ensureSecretKey(env, { secrets: none }, silentLogger)).toBeUndefined()
    expect(createSecretBox(secretKeySourceOf(env)).open(sealed)).toBe('value')
  })

  it('is made by the first secret, and not by reading one', () => {
    const env = { TOOLDEX_HOME: tempFolder() }
    expect(() => createSecretBox(secretKeySourceOf(env)).open('AAAA')).toThrow('no key to read stored secrets')
    createSecretBox(secretKeySourceOf(env)).seal('value')
    expect(readFileSync(join(env.TOOLDEX_HOME, 'secret.key'), 'utf8').trim()).toMatch(/^[\w-]{43}$/)
  })

  it('is not made beside secrets of another key, nor where TOOLDEX_SECRET_KEY has one', async () => {
    const env = { TOOLDEX_HOME: tempFolder() }
    const some = { list: async () => [{}] } as never
    expect(await ensureSecretKey(env, { secrets: some }, silentLogger)).toBeUndefined()
    const chosen = { ...env, TOOLDEX_SECRET_KEY: 'chosen by the operator' }
    expect(await ensureSecretKey(chosen, { secrets: none }, silentLogger)).toBeUndefined()
    expect(secretKeySourceOf(chosen).read()).toBe('chosen by the operator')
  })

  it('does not keep a server from starting where the home cannot be written', async () => {
    const home = tempFile('home', '')
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) }
    expect(await ensureSecretKey({ TOOLDEX_HOME: home }, { secrets: none }, logger)).toBeUndefined()
    expect(warnings).toEqual(['Secrets cannot be stored without TOOLDEX_SECRET_KEY.'])
  })
})
