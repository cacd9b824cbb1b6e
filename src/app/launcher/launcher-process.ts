import { JsonText } from '../../base/json-text.ts'
import { killAtOnce, type RunControls } from '../../contract/executor.ts'
import { executorKinds } from '../../contract/executor-kinds.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import { Environments, openExecutorOfEachKind } from '../../executors/index.ts'
import { environmentsFolder } from '../../operations/server/python-environments.ts'
import { onFaultPoint } from '../../rules/fault-points.ts'
import { processEnv } from '../../rules/settings.ts'
import { hideProcess } from '../hide-process.ts'
import { openSandbox } from '../open-executors.ts'
import { type FromLauncher, type LauncherOptions, restoreError, serializeError, type ToLauncher } from './messages.ts'

// Only tools that declare credentials may have them.
hideProcess()

// This process only starts others: it is small, so forking is fast, independent of the memory of the server.
const running = new Map<number, AbortController>()
const pendingSecrets = new Map<number, (response: Extract<ToLauncher, { type: 'secret' }>) => void>()
let executors: ReturnType<typeof openExecutorOfEachKind> | undefined
let where: ExecutorChoice | undefined
let secretRequests = 0

const send = (message: FromLauncher): void => void process.send?.(message, undefined, undefined, () => {})

process.on('message', (message: ToLauncher) => {
  if (message.type === 'start') executors = open(message.options)
  else if (message.type === 'run') void run(message)
  else if (message.type === 'cancel') running.get(message.id)?.abort(message.atOnce ? killAtOnce : undefined)
  else {
    pendingSecrets.get(message.requestId)?.(message)
    pendingSecrets.delete(message.requestId)
  }
})

// The server stops this process: a signal of the terminal reaches both.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
process.on('disconnect', () => void end())

/** Ends all runs after the server has exited or disconnected. */
async function end(): Promise<void> {
  for (const stopping of running.values()) stopping.abort()
  const late = setTimeout(() => process.exit(1), 3000)
  while (running.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await Promise.all(Object.values(executors ?? {}).map((executor) => executor.close?.()))
  clearTimeout(late)
  process.exit(0)
}

function open(options: LauncherOptions): typeof executors {
  const env = processEnv
  if (options.points) onFaultPoint((point) => send({ type: 'point', point }))
  const sandbox = openSandbox(env, options)
  const { maxOutput, maxFile, containment, warm } = options
  const commands = {
    env,
    scope: 'service' as const,
    where: () => where,
    limitFiles: true,
    limited: options.limited,
    sandbox,
    containment,
    limits: {
      ...(maxOutput === undefined ? {} : { outputBytes: maxOutput }),
      ...(maxFile === undefined ? {} : { fileBytes: maxFile }),
    },
  }
  const environments = new Environments(environmentsFolder(env))
  return openExecutorOfEachKind({ env, sandbox, environments, warm, commands }, (kind) => executorKinds[kind].isProcess)
}

async function run(message: Extract<ToLauncher, { type: 'run' }>): Promise<void> {
  const { id, kind, job, traceparent, publishOutput } = message
  const stopping = new AbortController()
  running.set(id, stopping)
  where = message.where
  const controls: RunControls = {
    signal: stopping.signal,
    traceparent,
    secret: (reference) => requestSecret(id, reference),
    onProgress: (bytes) => send({ type: 'progress', id, bytes }),
    ...(publishOutput ? { onOutput: (stream, text) => send({ type: 'output', id, stream, text }) } : {}),
  }
  try {
    const executor = executors?.[kind]
    if (executor === undefined) throw new Error('not started')
    const outcome = await executor.prepare(job).run(controls)
    const { output, ...rest } = outcome
    if (output instanceof JsonText) send({ type: 'end', id, outcome: rest, outputJson: output.json })
    else send({ type: 'end', id, outcome })
  } catch (thrown) {
    send({ type: 'end', id, error: serializeError(thrown) })
  } finally {
    running.delete(id)
  }
}

function requestSecret(id: number, reference: string): Promise<string> {
  const requestId = ++secretRequests
  return new Promise((resolve, reject) => {
    pendingSecrets.set(requestId, ({ value, error }) =>
      value === undefined ? reject(error && restoreError(error)) : resolve(value),
    )
    send({ type: 'secret', id, requestId, reference })
  })
}
