import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { mainFile } from '../support/run-cli.ts'
import { startServer } from '../support/start-server.ts'
import { tempFile, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand } from '../support/traced-tools.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'
import { containments } from './run-tool.ts'

const left = (seconds: string) => findProcesses(`sleep ${seconds}`)

/** Sleeps itself, in a child, in a session of its own, and with an empty environment. */
const family = (seconds: string) =>
  tempScript(
    'family',
    `#!/bin/sh\nsleep ${seconds} &\nsetsid sleep ${seconds} &\nenv -i sleep ${seconds} &\nsleep ${seconds}\n`,
  )
const members = 4

describe('66: no child outlives the process that started it', () => {
  for (const { kind, it: where } of containments) {
    where(
      `66 (${kind}): kill -9 of a server takes waited and queued calls with it`,
      async () => {
        const seconds = uniqueSeconds()
        const server = await startServer({ words: ['--containment', kind] })
        await registerCommand(server, 'family', family(seconds))
        const waited = execute(server, 'family', {}, { wait: true }).catch(() => 'cut off')
        await execute(server, 'family', {})
        await expect.poll(() => left(seconds).length).toBe(2 * members)
        server.signal('SIGKILL')
        await expect.poll(() => left(seconds)).toEqual([])
        expect(await waited).toBe('cut off')
        await server.stop()
      },
      90_000,
    )

    where(
      `66 (${kind}): kill -9 of a command takes its call with it, and a call that ended is not touched`,
      async () => {
        const seconds = uniqueSeconds()
        const config = tempFile('family.yaml', `command: ${family(seconds)}\ntools: [{name: t, description: d}]\n`)
        const child = spawn(process.execPath, [mainFile, 'call', '-c', config, '--containment', kind, 't'], {
          stdio: 'ignore',
        })
        await expect.poll(() => left(seconds).length).toBe(members)
        child.kill('SIGKILL')
        await expect.poll(() => left(seconds)).toEqual([])
      },
    )
  }

  it('66: nobody watches over a process that ended', async () => {
    const watchers = () => findProcesses('live="$live$pid "').length
    const before = watchers()
    const config = tempFile('true.yaml', 'command: "true"\ntools: [{name: t, description: d}]\n')
    const words = ['call', '-c', config, '--containment', 'process-group', 't']
    const child = spawn(process.execPath, [mainFile, ...words], { stdio: 'ignore' })
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
    await expect.poll(watchers).toBeLessThanOrEqual(before)
  })
})
