import { describe, expect, it } from 'vitest'
import { needs } from '../../tests/support/needs.ts'
import { runUntilBegun } from '../../tests/support/run-until-begun.ts'
import type { Executor, Job, RunControls, RunnableTool } from '../contract/executor.ts'
import type { Isolation, RunOutcome } from '../contract/run.ts'

type ToolPart = Partial<Pick<RunnableTool, 'executorConfig' | 'scriptContent' | 'inputSchema'>>

/** What a kind of tool shows of itself: tools that do what their names say. */
export interface ExecutorFixture {
  readonly executor: Executor
  readonly isolation: Isolation
  /** Declares a test that runs a tool: `it` where absent, or a skip where the machine lacks the isolation level. */
  readonly when?: ReturnType<typeof needs>
  /** Gives back its argument `text`, as its output or as what it prints. */
  readonly echo: ToolPart
  /** Fails, and says `it went wrong`. */
  readonly fail: ToolPart
  /** The code of a tool that fails; of a process where absent. */
  readonly failCode?: string
  /** Says `started`, then waits for a minute. */
  readonly wait: ToolPart
  /** Whether it can say anything before it has ended; it can where absent. */
  readonly speaks?: boolean
  /** Prints without end; absent for kinds that print nothing. */
  readonly flood?: ToolPart
  /** Gives back the variable `GREETING`, set to `secret:greeting`; absent for kinds without variables. */
  readonly greet?: ToolPart
}

export const toolOf = (kind: Executor['kind'], part: ToolPart): RunnableTool => ({
  name: `test_${kind}`,
  id: null,
  version: null,
  executorType: kind,
  executorConfig: {},
  scriptContent: null,
  inputSchema: null,
  outputSchema: {},
  annotations: {},
  constraints: [],
  ...part,
})

const all = ({ result, errorMessage, output }: RunOutcome): string =>
  [result.stdout, result.stderr, errorMessage, JSON.stringify(output)].join('\n')

/** The code of what went wrong, whether that is a result or an error. */
const codeOf = (run: Promise<RunOutcome>): Promise<string | null> =>
  run.then(
    ({ errorCode }) => errorCode,
    (error: { code: string }) => error.code,
  )

const given = ({ output, result }: RunOutcome): string =>
  output === undefined ? result.stdout.trim() : typeof output === 'string' ? output : JSON.stringify(output)

/** What every way of running a tool must do alike. */
export function describeExecutor(name: string, open: () => ExecutorFixture): void {
  describe(`executor: ${name}`, () => {
    const fixture = open()
    const { executor, speaks = true, failCode = 'EXECUTION_FAILED', when = it } = fixture
    const jobOf = (part: ToolPart, more: Partial<Job> = {}): Job => ({
      tool: toolOf(executor.kind, part),
      input: {},
      ...more,
    })
    const run = async (part: ToolPart, more: Partial<Job> = {}, controls: RunControls = {}) =>
      executor.prepare(jobOf(part, more)).run(controls)

    when('returns the output of the tool and the isolation level', async () => {
      const text = 'two words, "quotes" & $(id); é 😀'
      const outcome = await run(fixture.echo, { input: { text } })
      expect([outcome.status, given(outcome), outcome.errorCode]).toEqual(['SUCCESS', text, null])
      expect(outcome.isolation).toBe(fixture.isolation)
      expect(outcome.result.durationMs).toBeGreaterThan(0)
    })

    when('plans a call without running it', async () => {
      const plan = await executor.prepare(jobOf(fixture.wait, { timeoutMs: 1234 })).plan()
      expect([plan.kind, plan.isolation, plan.timeoutMs]).toEqual([executor.kind, fixture.isolation, 1234])
    })

    it('shows policies the values it was given', () => {
      const [values] = executor.prepare(jobOf(fixture.echo, { input: { text: 'bound' } })).bound
      expect(values?.get('text')).toBe('bound')
    })

    it('shows policies null, objects and arrays as what they are', () => {
      const bound = (text: unknown) => executor.prepare(jobOf(fixture.echo, { input: { text } })).bound[0]?.get('text')
      // A program has no word for null, so there it is an argument that is left out.
      expect(bound(null)).toBe(executor.kind === 'cli' || executor.kind === 'shell' ? undefined : null)
      if (executor.kind === 'cli') return
      expect([bound({ a: 1 }), bound([[1]])]).toEqual([{ uncheckable: 'an object' }, { uncheckable: 'an array' }])
      expect(bound([2, null])).toEqual({ uncheckable: 'an array' })
      const { tool } = jobOf(fixture.echo, { input: {} })
      const inputSchema = { type: 'object', properties: { text: { type: 'array' } } }
      const declared = executor.prepare({ tool: { ...tool, inputSchema }, input: { text: [2, null] } }).bound
      expect(declared[0]?.get('text')).toEqual([2, 'null'])
    })

    when('a tool that fails is a result with a code and a reason', async () => {
      const outcome = await run(fixture.fail)
      expect([outcome.status, outcome.errorCode]).toEqual(['FAILED', failCode])
      expect(all(outcome)).toContain('it went wrong')
    })

    when('ends at its deadline, which the call may shorten, and keeps what was printed', async () => {
      const { outcome, seconds } = await runUntilBegun(
        (limit) => run(fixture.wait, { timeoutMs: 1000 * limit }),
        (ended) => !speaks || all(ended).includes('started'),
      )
      expect([outcome.status, outcome.errorCode]).toEqual(['TIMEOUT', 'EXECUTION_TIMEOUT'])
      expect(outcome.errorMessage).toContain(`timed out after ${seconds.toFixed(1)}s`)
      if (speaks) expect(all(outcome)).toContain('started')
    })

    when('ends when it is cancelled, and passes output on while it runs', async () => {
      const stop = new AbortController()
      let seen = ''
      const controls = {
        signal: stop.signal,
        onOutput: (_stream: string, text: string) => {
          seen += text
          stop.abort()
        },
      }
      if (!speaks) setTimeout(() => stop.abort(), 500)
      const outcome = await run(fixture.wait, {}, controls)
      expect([outcome.status, outcome.errorCode]).toEqual(['CANCELLED', 'EXECUTION_CANCELLED'])
      if (speaks) expect(seen).toContain('started')
    })

    when('does not start a call that is cancelled already', async () => {
      const { status } = await run(fixture.wait, {}, { signal: AbortSignal.abort() })
      expect(status).toBe('CANCELLED')
    })

    it('refuses a config that it cannot read', async () => {
      await expect(run({ executorConfig: { nonsense: true } })).rejects.toMatchObject({ code: 'TOOL_INVALID' })
    })

    it('shows a tool with a config that it cannot read as not ready', () => {
      const tool = toolOf(executor.kind, { executorConfig: { nonsense: true } })
      expect([executor.readiness(tool).state, executor.isolationOf?.(tool)]).toEqual(['needs-program', undefined])
    })

    it('derives a deadline that the host may shorten', () => {
      const deadline = (more: Partial<Job>) => executor.prepare(jobOf(fixture.echo, more)).deadlineMs
      expect([deadline({ timeoutMs: 5000, maxMs: 900 }), deadline({ maxMs: 900 })]).toEqual([900, 900])
      expect([deadline({ timeoutMs: 5000 }), deadline({ timeoutMs: 2 ** 40 })]).toEqual([5000, 2 ** 31 - 1])
    })

    const whenFlooded = fixture.flood === undefined ? needs(false, 'it prints nothing') : when
    whenFlooded('cuts output without end', async () => {
      const outcome = await run(fixture.flood ?? {}, { timeoutMs: 150_000 })
      expect([outcome.status, outcome.errorCode]).toEqual(['FAILED', 'OUTPUT_LIMIT'])
      expect(outcome.result.truncated).toBe(true)
      expect(outcome.result.stdout.length).toBeLessThan(2 * 1024 * 1024)
    })

    const whenGreeted = fixture.greet === undefined ? needs(false, 'it has no variables') : when
    whenGreeted('resolves secrets at the last moment', async () => {
      const asked: string[] = []
      const secret = async (reference: string) => {
        asked.push(reference)
        return 'hello from the safe'
      }
      const plan = await executor.prepare(jobOf(fixture.greet ?? {})).plan()
      expect([asked, JSON.stringify(plan).includes('hello')]).toEqual([[], false])
      const outcome = await run(fixture.greet ?? {}, {}, { secret })
      expect([given(outcome), asked]).toEqual(['hello from the safe', ['secret:greeting']])
      expect(await codeOf(run(fixture.greet ?? {}))).toBe('SECRET_UNAVAILABLE')
    })
  })
}
