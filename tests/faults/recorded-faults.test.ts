import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onEachWorld } from '../support/each-world.ts'
import { runUntilBegun } from '../support/run-until-begun.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { execute, registerCommand } from '../support/traced-tools.ts'
import { countZombies, findProcesses, peakDuring, residentBytes, uniqueSeconds } from './processes.ts'

const megabyte = 1024 * 1024
const maxFile = 64 * megabyte
const bash = (text: string) => tempScript('tool', `#!/bin/bash\n${text}\n`)
const python = (text: string) => tempScript('tool', `#!/usr/bin/env python3\nimport os, sys, time\n${text}\n`)

onEachWorld('recorded', { words: ['--max-file', String(maxFile)] }, (world) => {
  let tools = 0
  /** Registers a command, calls it and gives its row as it is kept. */
  const run = async (
    command: string,
    options: { timeoutMs?: number; input?: object; config?: object; args?: object[] } = {},
  ) => {
    const name = `tool_${++tools}`
    const { timeoutMs, input = {}, config = {}, args = [] } = options
    const properties = Object.fromEntries(args.map((arg) => [(arg as { name: string }).name, {}]))
    await registerCommand(world.server(), name, command, { args, config, properties })
    const { body } = await execute(world.server(), name, input, {
      wait: true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    const kept = (await world.server().request('GET', `/executions/${body.id}`)).body
    expect(kept).toEqual(body)
    return kept
  }

  it('58: deaf to SIGTERM: killed after the grace, and TIMEOUT', async () => {
    const seconds = uniqueSeconds()
    const deaf = bash(`trap '' TERM\necho deaf\nwhile true; do sleep ${seconds}; done`)
    const { outcome: row } = await runUntilBegun(
      (limit) => run(deaf, { timeoutMs: 1000 * limit }),
      ({ outputData }) => outputData !== '' && outputData !== null,
    )
    expect(row).toMatchObject({ status: 'TIMEOUT', outputData: 'deaf\n', exitCode: null })
    expect(findProcesses(seconds)).toEqual([])
  })

  it('59, 60: a daemon, and a grandchild that holds stdout: the call ends and they are gone', async () => {
    const seconds = uniqueSeconds()
    const daemon = bash(`setsid sh -c 'exec sleep ${seconds} >/dev/null 2>&1' &\nsleep ${seconds} &\necho parent done`)
    const row = await run(daemon)
    expect(findProcesses(`sleep ${seconds}`)).toEqual([])
    expect(row).toMatchObject({ status: 'SUCCESS', outputData: 'parent done\n', exitCode: 0 })
  })

  it('62: output without end on both streams: FAILED and truncated, a part kept, the memory of the server flat', async () => {
    const { pid } = world.server()
    const before = residentBytes(pid)
    const [row, peak] = await peakDuring(
      () => residentBytes(pid),
      () => run(bash('yes >&2 &\nexec yes')),
    )
    expect(row).toMatchObject({ status: 'FAILED', errorCode: 'OUTPUT_LIMIT', truncated: true })
    expect(row.result.bytes).toBeLessThan(megabyte + 200)
    expect(row.logs.stderr.length).toBeLessThan(megabyte + 200)
    const page = await world.server().request('GET', `/results/${row.result.handle}?limit=3`)
    expect(page.body.items).toEqual(['y', 'y', 'y'])
    expect(peak - before).toBeLessThan(150 * megabyte)
  })

  it('64: binary output is stored as text, with whole characters', async () => {
    const bytes = [0x61, 0xff, 0x00, 0x62, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0x80]
    const odd = await run(python(`sys.stdout.buffer.write(bytes(${JSON.stringify(bytes)}))`))
    // PostgreSQL has no U+0000 in texts.
    const text = new TextDecoder().decode(Uint8Array.from(bytes)).replaceAll('\0', '\ufffd')
    expect([odd.status, odd.outputData]).toEqual(['SUCCESS', text])
    const dripped = 'aé€😀ß漢字👩‍🚀z'
    const drip = python(`for byte in '${dripped}'.encode():\n    os.write(1, bytes([byte]))\n    time.sleep(0.02)`)
    expect((await run(drip)).outputData).toBe(dripped)
  })

  it('65: every way to fail has a code of its own in the row, and no words of a shell', async () => {
    const [folder, notExecutable] = [tempFolder(), tempFile('plain', 'no program', tempFolder(), 0o644)]
    mkdirSync(join(folder, 'sub'))
    const word = { name: 'word', flag: '--word' }
    const rows = {
      'EXECUTION_FAILED 255': await run(bash('exit 255')),
      'KILLED_BY_SIGNAL null': await run(bash('kill -SEGV $$\nsleep 5')),
      'COMMAND_NOT_FOUND null': await run('no-such-program-anywhere'),
      'COMMAND_NOT_EXECUTABLE null': await run(notExecutable),
      'WORKING_DIR_INVALID null': await run('true', { config: { workingDir: join(folder, 'missing') } }),
      'ARGUMENTS_TOO_LONG null': await run('echo', { args: [word], input: { word: 'x'.repeat(500_000) } }),
    }
    for (const [wanted, { status, errorCode, exitCode, errorMessage }] of Object.entries(rows)) {
      expect([status, `${errorCode} ${exitCode}`]).toEqual(['FAILED', wanted])
      expect(errorMessage).not.toMatch(/\b(sh|bash): |line \d+:/)
    }
    const badShebang = await run(tempScript('bad', '#!/no/such/interpreter\n'))
    expect(badShebang.status).toBe('FAILED')
    expect(['COMMAND_NOT_FOUND', 'COMMAND_NOT_EXECUTABLE']).toContain(badShebang.errorCode)
  })

  it('65e: a tool that fills the disk is stopped at the limit, and others run', async () => {
    const file = join(tempFolder(), 'filled')
    const fill = bash(`head -c ${2 * maxFile} /dev/zero > ${file}`)
    const [full, other] = await Promise.all([run(fill), run('echo well')])
    expect(full.status).toBe('FAILED')
    expect(['EXECUTION_FAILED', 'KILLED_BY_SIGNAL']).toContain(full.errorCode)
    expect(other).toMatchObject({ status: 'SUCCESS', outputData: 'well\n' })
  })

  it('65f: ten zombies a call: none is left', async () => {
    const name = 'zombies'
    const dead = python('for _ in range(10):\n    if os.fork() == 0: os._exit(0)\ntime.sleep(0.05)\nprint("left them")')
    await registerCommand(world.server(), name, dead)
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => execute(world.server(), name, {}, { wait: true })),
    )
    expect(answers.map(({ body }) => body.status)).toEqual(Array(40).fill('SUCCESS'))
    await expect.poll(() => countZombies(world.server().pid)).toBe(0)
  })
})
