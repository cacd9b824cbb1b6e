import { beforeAll, describe, expect, it } from 'vitest'
import { onServer } from './support/each-engine.ts'
import { eventually, makeKey, putPolicies } from './support/keys.ts'
import { registerScript } from './support/registered-tools.ts'
import { draft, expectProblem } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import type { RequestOptions } from './support/start-server.ts'
import { tempConfig } from './support/temp-config.ts'

const approved = { annotations: { requiresApproval: true } }
const schemaOf = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })
const policyOf = (tools: object, more: object = {}) => ({ default: 'enabled', tools, ...more })
const echoing = (name: string) => ({ baseCommand: 'echo', args: [{ name, positional: true }] })
/** The rules of the policy file of the server. */
const fileRules = {
  filed: { requireApproval: true },
  kept: { args: { word: { pattern: '[a-z]+' } } },
  tried: { requireReplay: 1 },
  reserved: {},
}
/** A tool that somebody without the scope admin may register: it runs no code. */
const httpTool = (name: string, more: object = {}) =>
  draft(name, {
    executorType: 'http',
    executorConfig: { method: 'GET', url: 'https://example.org/{word}' },
    inputSchema: schemaOf('word'),
    ...more,
  })

onServer(
  'the protection of a tool',
  (server) => {
    let [caller, both, boss] = ['', '', '']
    beforeAll(async () => {
      caller = await makeKey(server(), 'caller', ['call'])
      both = await makeKey(server(), 'both', ['call', 'write'])
      boss = await makeKey(server(), 'boss', ['write'])
    })

    const as = (key: string, method: string, path: string, body?: object) => {
      const options: RequestOptions = { key, ...(body === undefined ? {} : { body }) }
      return server().request(method, path, options)
    }
    const admin = (method: string, path: string, body?: object) => as(server().key, method, path, body)
    const execute = (key: string, tool: string, body: object) => as(key, 'POST', `/tools/${tool}/execute`, body)
    const change = async (tool: string, body: object) => {
      const answer = await admin('PATCH', `/tools/${tool}`, body)
      expect(answer.status, answer.text).toBe(200)
    }
    const ended = (id: string) =>
      eventually(
        async () => (await admin('GET', `/executions/${id}`)).body,
        ({ status }) => !['PENDING', 'RUNNING'].includes(status),
      )

    describe('under a pinned version', () => {
      beforeAll(async () => {
        await registerScript(server(), 'pay', { script: 'echo "paid $1"' })
        await change('pay', approved)
        await registerScript(server(), 'say', {
          script: 'echo "said $1"',
          more: {
            inputSchema: schemaOf('w'),
            executorConfig: { baseCommand: 'echo', args: [{ name: 'w', positional: true }] },
          },
        })
        await change('say', {
          inputSchema: schemaOf('word'),
          executorConfig: { baseCommand: 'echo', args: [{ name: 'word', positional: true }] },
        })
        await putPolicies(server(), [
          { name: 'words', policy: policyOf({ say: { args: { word: { pattern: '[a-z]+' } } } }) },
        ])
      })

      const pins: readonly (readonly [string, (key: string) => ReturnType<typeof execute>])[] = [
        ['pay@1', (key) => execute(key, 'pay@1', { input: { word: 'x' }, wait: true })],
        ['registry:pay:1', (key) => execute(key, 'registry:pay:1', { input: { word: 'x' }, wait: true })],
        ['version 1', (key) => execute(key, 'pay', { input: { word: 'x' }, version: 1, wait: true })],
        ['queued version 1', (key) => execute(key, 'pay', { input: { word: 'x' }, version: 1 })],
      ]

      it.each(pins)('is not called by a key that may only call: %s', async (_name, call) => {
        const answer = await call(caller)
        expectProblem(answer, 403, 'FORBIDDEN')
        expect(answer.body.detail).toContain('Version 2 of pay requires approval of each call; calling version 1 needs')
      })

      it.each(pins)('waits for approval even with the scope write: %s', async (_name, call) => {
        const { status, body } = await call(both)
        expect([status, body.status, body.reason]).toEqual([202, 'PENDING', 'approval'])
        expectProblem(await as(both, 'POST', `/executions/${body.id}/approve`), 403, 'FORBIDDEN')
        await as(boss, 'POST', `/executions/${body.id}/approve`)
        expect(await ended(body.id)).toMatchObject({ status: 'SUCCESS', version: 1, outputData: 'paid x\n' })
      })

      it('is held to the latest by models, by agents and in descriptions', async () => {
        const invoked = await as(caller, 'POST', '/llm/tools/pay@1/invoke', { arguments: { word: 'x' } })
        expectProblem(invoked, 403, 'FORBIDDEN')
        const told = await as(caller, 'POST', '/describe', { ids: ['pay@1'] })
        expect(told.body.tools[0].readiness).toMatchObject({ state: 'needs-approval' })
        const dry = await execute(both, 'pay@1', { input: { word: 'x' }, dryRun: true })
        expect(dry.body).toMatchObject({ needsApproval: true, approvalBy: ['the tool itself'] })
        const words = ['call', '--server', server().url, 'pay@1', '--word', 'x']
        const cli = await runCli(words, { env: { TOOLDEX_HOME: server().home, TOOLDEX_API_KEY: caller } })
        expect([cli.code, cli.stderr]).toEqual([6, expect.stringContaining("needs the scope 'write'")])
      })

      it('is refused where a bound of a policy does not apply to it', async () => {
        for (const key of [caller, both, server().key])
          for (const body of [{ version: 1 }, { version: 1, wait: true }, { version: 1, dryRun: true }]) {
            const answer = await execute(key, 'say', { input: { w: 'NOT ALLOWED' }, ...body })
            expectProblem(answer, 403, 'POLICY_REFUSED')
            expect(answer.body.detail).toBe(
              "A policy bounds the argument 'word' of say, which version 1 does not have.",
            )
          }
        expectProblem(await execute(caller, 'say', { input: { word: 'NO' } }), 403, 'POLICY_REFUSED')
        expect((await execute(caller, 'say', { input: { word: 'yes' }, wait: true })).body.status).toBe('SUCCESS')
      })

      it('holds what was approved before to what was tightened since', async () => {
        await registerScript(server(), 'mail', {
          script: 'echo "mailed $1"',
          more: {
            ...approved,
            inputSchema: schemaOf('w'),
            executorConfig: { baseCommand: 'echo', args: [{ name: 'w', positional: true }] },
          },
        })
        const { body } = await execute(caller, 'mail', { input: { w: 'TO ALL' } })
        await change('mail', {
          inputSchema: schemaOf('word'),
          executorConfig: { baseCommand: 'echo', args: [{ name: 'word', positional: true }] },
        })
        await putPolicies(server(), [
          { name: 'mails', policy: policyOf({ mail: { args: { word: { pattern: 'me' } } } }) },
        ])
        expect((await as(boss, 'POST', `/executions/${body.id}/approve`)).status).toBe(200)
        expect(await ended(body.id)).toMatchObject({ status: 'CANCELLED', errorCode: 'POLICY_REFUSED', attempt: 1 })
      })

      it('is held to the sandbox that a server uses by default', async () => {
        await registerScript(server(), 'lim', {
          script: 'echo "$1"',
          more: { inputSchema: schemaOf('w'), executorConfig: { ...echoing('w'), isolation: 'limited' } },
        })
        await change('lim', { executorConfig: echoing('w') })
        const answer = await execute(caller, 'lim@1', { input: { w: 'x' }, wait: true })
        expectProblem(answer, 403, 'FORBIDDEN')
        expect(answer.body.detail).toContain('Version 2 of lim runs in a stricter sandbox')
      })

      it('is refused where it declares a bounded argument that its command does not take', async () => {
        const { properties: word } = schemaOf('word')
        const { properties: w } = schemaOf('w')
        await registerScript(server(), 'bnd', {
          script: 'echo "$1"',
          more: { inputSchema: { type: 'object', properties: { ...word, ...w } }, executorConfig: echoing('w') },
        })
        await change('bnd', { executorConfig: echoing('word') })
        const bound = { args: { word: { pattern: 'good' } } }
        await putPolicies(server(), [{ name: 'bnds', policy: policyOf({ bnd: bound }) }])
        for (const body of [{ wait: true }, {}])
          expectProblem(await execute(caller, 'bnd@1', { input: { w: 'bad' }, ...body }), 403, 'POLICY_REFUSED')
        expect((await execute(caller, 'bnd', { input: { word: 'good' }, wait: true })).body.status).toBe('SUCCESS')
        // The same holds for the latest version, whoever made it.
        await change('bnd', { executorConfig: echoing('w') })
        const latest = await execute(caller, 'bnd', { input: { w: 'bad' }, wait: true })
        expectProblem(latest, 403, 'POLICY_REFUSED')
        expect(latest.body.detail).toContain("bounds the argument 'word' of bnd, which version 3 does not have")
      })

      it('is not run by replaying a proposal either', async () => {
        const only = { annotations: { requiresApproval: true, readOnlyHint: true } }
        await registerScript(server(), 'look', { script: 'echo "$1"', more: only })
        const proposal = await as(both, 'POST', '/tools/look/proposals', { change: { description: 'Other words.' } })
        const replay = await as(both, 'POST', `/proposals/${proposal.body.id}/replay`, {})
        expectProblem(replay, 403, 'FORBIDDEN')
        expect((await admin('POST', `/proposals/${proposal.body.id}/replay`, {})).status).toBe(200)
      })
    })

    describe('against one key that may call and write', () => {
      beforeAll(async () => {
        for (const name of ['wire', 'sent', 'bound']) {
          expect((await admin('POST', '/tools', httpTool(name, name === 'wire' ? approved : {}))).status).toBe(201)
          expect((await admin('POST', `/tools/${name}/activate`)).status).toBe(200)
        }
        await putPolicies(server(), [
          {
            name: 'careful',
            policy: policyOf({ sent: { requireApproval: true }, bound: { args: { word: { pattern: '[a-z]+' } } } }),
          },
        ])
      })

      const loosening: readonly (readonly [string, string, object])[] = [
        ['approval is switched off', 'wire', { annotations: { requiresApproval: false } }],
        ['approval is left out', 'wire', { annotations: {} }],
        ['a tool that a rule names is renamed', 'sent', { name: 'sent_now' }],
        [
          'a bounded argument is renamed',
          'bound',
          { inputSchema: schemaOf('w'), executorConfig: { method: 'GET', url: 'https://example.org/{w}' } },
        ],
        [
          'a bounded argument is no longer used',
          'bound',
          { executorConfig: { method: 'GET', url: 'https://example.org/' } },
        ],
      ]

      it.each(loosening)('does not change it alone: %s', async (_name, tool, body) => {
        const direct = await as(both, 'PATCH', `/tools/${tool}`, body)
        expectProblem(direct, 403, 'FORBIDDEN')
        expect(direct.body.detail).toContain('or the acceptance of another person')
        const proposed = await as(both, 'POST', `/tools/${tool}/proposals`, { change: body })
        expect(proposed.status, proposed.text).toBe(201)
        const own = await as(both, 'POST', `/proposals/${proposed.body.id}/accept`, {})
        expectProblem(own, 403, 'FORBIDDEN')
        expect(own.body.hint).toContain('You proposed this change yourself')
        expect((await admin('GET', `/tools/${tool}`)).body.version).toBe(1)
      })

      it('does not go back to a version before, nor delete and register it anew', async () => {
        await change('wire', { description: 'Wires money.' })
        await change('wire', { annotations: {} })
        await change('wire', approved)
        const { version } = (await admin('GET', '/tools/wire')).body
        expectProblem(await as(both, 'POST', '/tools/wire/rollback', { version: version - 1 }), 403, 'FORBIDDEN')
        for (const name of ['wire', 'sent', 'bound'])
          expectProblem(await as(both, 'DELETE', `/tools/${name}`), 403, 'FORBIDDEN')
        expect((await admin('GET', '/tools/wire')).body).toMatchObject({ version, ...approved })
      })

      it('may change what protects nothing', async () => {
        expect((await as(both, 'PATCH', '/tools/wire', { description: 'Wires some money.' })).status).toBe(200)
        const words = { ...schemaOf('word'), description: 'What is sent.' }
        expect((await as(both, 'PATCH', '/tools/bound', { inputSchema: words })).status).toBe(200)
      })

      const offer = async (name: string, more: object = {}) => {
        expect((await admin('POST', '/tools', httpTool(name, more))).status).toBe(201)
        expect((await admin('POST', `/tools/${name}/activate`)).status).toBe(200)
      }

      it('keeps the name of a tool that requires approval', async () => {
        await offer('payout', approved)
        const direct = await as(both, 'PATCH', '/tools/payout', { name: 'payout_old' })
        expectProblem(direct, 403, 'FORBIDDEN')
        expect(direct.body.detail).toContain('another tool could take its name')
        const proposed = await as(both, 'POST', '/tools/payout/proposals', { change: { name: 'payout_old' } })
        expectProblem(await as(boss, 'POST', `/proposals/${proposed.body.id}/accept`, {}), 403, 'FORBIDDEN')
        expectProblem(await as(both, 'POST', '/tools', httpTool('payout')), 409, 'NAME_TAKEN')
        await change('payout', { name: 'payout_old' })
      })

      it('is not loosened by a proposal from before it was protected', async () => {
        await offer('stale')
        const words = { description: 'Other words.', annotations: { readOnlyHint: true } }
        const old = await as(boss, 'POST', '/tools/stale/proposals', { change: words })
        const renaming = {
          inputSchema: schemaOf('v'),
          executorConfig: { method: 'GET', url: 'https://example.org/{v}' },
        }
        const older = await as(boss, 'POST', '/tools/stale/proposals', { change: renaming })
        await change('stale', approved)
        const bound = { args: { word: { pattern: '[a-z]+' } } }
        await putPolicies(server(), [{ name: 'stales', policy: policyOf({ stale: bound }) }])
        const accept = (key: string, { body }: typeof old) =>
          server().request('POST', `/proposals/${body.id}/accept`, { key, body: {}, headers: { 'If-Match': '"2"' } })
        for (const proposal of [old, older]) {
          const answer = await accept(both, proposal)
          expectProblem(answer, 403, 'FORBIDDEN')
          expect(answer.body.detail).toContain('after the proposal was made')
        }
        expect((await admin('GET', '/tools/stale')).body).toMatchObject({ version: 2, ...approved })
        // What is proposed in the knowledge of the protection is for another person to accept.
        const anew = await as(boss, 'POST', '/tools/stale/proposals', { change: { ...words, ...renaming } })
        const accepted = await accept(both, anew)
        expect(accepted.status, accepted.text).toBe(200)
      })

      it('is loosened with the acceptance of another person', async () => {
        const { body } = await as(both, 'POST', '/tools/wire/proposals', { change: { annotations: {} } })
        expect((await as(boss, 'POST', `/proposals/${body.id}/accept`, {})).status).toBe(200)
        expect((await admin('GET', '/tools/wire')).body.annotations).toEqual({})
      })
    })

    describe('by a policy that names it', () => {
      const waits = async (tool: string) => {
        const { body, text } = await execute(caller, tool, { input: { word: 'x' } })
        expect(body, text).toMatchObject({ status: 'PENDING', reason: 'approval' })
      }

      it('follows the tool to another name and namespace, and stays with the name', async () => {
        await registerScript(server(), 'ship', { script: 'echo "shipped $1"' })
        await putPolicies(server(), [{ name: 'ships', policy: policyOf({ ship: { requireApproval: true } }) }])
        await change('ship', { name: 'ship_out' })
        await waits('ship_out')
        await change('ship_out', { namespace: 'docks' })
        await waits('docks:ship_out')
        await waits('ship_out@1')
        const { policy } = (await admin('GET', '/policies/ships')).body
        expect(policy.tools.ship_out).toEqual(policy.tools.ship)
        const audit = await admin('GET', '/audit?subject=policy:ships')
        expect(audit.body.items[0]).toMatchObject({ action: 'policy.change' })
        // Whatever is called so next is bound as well, and only an admin may call something so.
        expectProblem(await as(both, 'POST', '/tools', httpTool('ship')), 403, 'FORBIDDEN')
        await registerScript(server(), 'ship', { script: 'echo "again $1"' })
        await waits('ship')
        expect((await admin('DELETE', '/tools/ship')).status).toBe(200)
        await registerScript(server(), 'ship', { script: 'echo "once more $1"' })
        await waits('ship')
      })

      it('is not spread over two names with different rules', async () => {
        await registerScript(server(), 'load', { script: 'echo' })
        const tools = { load: { requireApproval: true }, unload: {} }
        await putPolicies(server(), [{ name: 'loads', policy: policyOf(tools) }])
        expectProblem(await admin('PATCH', '/tools/load', { name: 'unload' }), 409, 'IN_USE')
      })
    })

    describe('by the policy file of the server', () => {
      beforeAll(async () => {
        for (const name of ['filed', 'kept', 'tried'])
          await registerScript(server(), name, { script: 'echo "$1"', annotations: { readOnlyHint: true } })
      })

      it('is not lost with its name, nor by deletion, without the scope admin', async () => {
        const waiting = await execute(both, 'filed', { input: { word: 'x' } })
        expect(waiting.body).toMatchObject({ status: 'PENDING', reason: 'approval' })
        const renamed = await as(both, 'PATCH', '/tools/filed', { name: 'free' })
        expectProblem(renamed, 403, 'FORBIDDEN')
        expect(renamed.body.detail).toContain('The policy file has a rule for filed, which this change renames.')
        const proposed = await as(both, 'POST', '/tools/filed/proposals', { change: { name: 'free' } })
        expectProblem(await as(both, 'POST', `/proposals/${proposed.body.id}/accept`, {}), 403, 'FORBIDDEN')
        for (const name of ['filed', 'kept'])
          expectProblem(await as(both, 'DELETE', `/tools/${name}`), 403, 'FORBIDDEN')
        expectProblem(await as(both, 'POST', '/tools', httpTool('reserved')), 403, 'FORBIDDEN')
      })

      it('holds for the replay of a proposal', async () => {
        const proposed = await as(both, 'POST', '/tools/filed/proposals', { change: { description: 'Says it well.' } })
        const replay = await as(both, 'POST', `/proposals/${proposed.body.id}/replay`, {})
        expectProblem(replay, 403, 'FORBIDDEN')
        expect(replay.body.detail).toContain('Each call of filed requires approval')
      })

      it('requires the replay of a change, however it is made', async () => {
        const next = { inputSchema: schemaOf('word'), executorConfig: echoing('word') }
        expectProblem(await admin('PATCH', '/tools/tried', next), 409, 'ILLEGAL_STEP')
        const current = (await admin('GET', '/bundle')).body
        const tools = current.tools.filter(({ name }: { name: string }) => name === 'tried')
        const bundle = { tooldex: 1, tools: [{ ...tools[0], ...next }] }
        for (const dryRun of [true, false])
          expectProblem(await admin('POST', '/bundle', { bundle, dryRun }), 409, 'ILLEGAL_STEP')
      })

      it('holds in every workspace', async () => {
        const made = await admin('POST', '/keys', { name: 'elsewhere', scopes: ['admin'], workspace: 'elsewhere' })
        const key = made.body.secret
        for (const name of ['filed', 'kept']) {
          const tool = draft(name, { executorType: 'shell', executorConfig: { command: ['echo', '{{word}}'] } })
          expect((await as(key, 'POST', '/tools', { ...tool, inputSchema: schemaOf('word') })).status).toBe(201)
          expect((await as(key, 'POST', `/tools/${name}/activate`)).status).toBe(200)
        }
        expectProblem(await execute(key, 'kept', { input: { word: 'NOT ALLOWED' }, wait: true }), 403, 'POLICY_REFUSED')
        expect((await execute(key, 'filed', { input: { word: 'x' } })).body).toMatchObject({ reason: 'approval' })
      })
    })

    describe('of its name', () => {
      const taken: readonly (readonly [string, { name: string; namespace?: string }])[] = [
        ['the name of a tool of a config', { name: 'coreutils_wc' }],
        ['the same in a namespace', { name: 'coreutils_wc', namespace: 'mine' }],
        ['the namespace of a config', { name: 'anything', namespace: 'coreutils' }],
      ]
      it.each(taken)('is not taken without the scope admin: %s', async (_name, fields) => {
        expectProblem(await as(both, 'POST', '/tools', { ...httpTool('x'), ...fields }), 403, 'FORBIDDEN')
        const other = httpTool(`free_${fields.namespace ?? 'name'}_${fields.name}`.slice(0, 40))
        expect((await as(both, 'POST', '/tools', other)).status).toBe(201)
        expectProblem(await as(both, 'PATCH', `/tools/${other.name}`, fields), 403, 'FORBIDDEN')
        const proposed = await as(both, 'POST', `/tools/${other.name}/proposals`, { change: fields })
        expectProblem(await as(boss, 'POST', `/proposals/${proposed.body.id}/accept`, {}), 403, 'FORBIDDEN')
      })

      it('is not taken by a name that a tool may have in lists for models', async () => {
        const answer = await as(both, 'POST', '/tools', httpTool('coreutils_coreutils_wc'))
        expectProblem(answer, 403, 'FORBIDDEN')
        expect(answer.body.detail).toContain('coreutils:coreutils_wc')
      })
    })
  },
  { words: ['coreutils', '--policy', tempConfig('policy.yaml', JSON.stringify(policyOf(fileRules)))] },
)
