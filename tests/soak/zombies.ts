import { existsSync, readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { Containment } from '../../src/executors/process/containment.ts'
import { fromConfig } from '../../src/rules/runnable-tool.ts'
import { countZombies } from '../faults/processes.ts'
import { createTestRunner, resolveTool } from '../faults/run-tool.ts'
import { tempScript } from '../support/temp-folder.ts'

// Ten children that end at once, of which half are orphaned; nobody waits for any of them.
const careless = `#!/usr/bin/env -S python3 -IS
import os
for number in range(10):
    if os.fork() == 0:
        if number % 2 == 0 and os.fork() > 0:
            os._exit(0)
        os._exit(0)
print('careless')
`
const atOnce = 4

/** Calls what leaves ten zombies each time; in the end none is left, nor a group. */
export async function tryZombies(containment: Containment, calls: number): Promise<void> {
  const runner = createTestRunner({ containment })
  const tool = fromConfig(resolveTool({ command: tempScript('careless', careless) }))
  for (let done = 0; done < calls; done += atOnce) {
    const outcomes = await Promise.all(Array.from({ length: atOnce }, () => runner.run(tool, {})))
    for (const { status, result } of outcomes) expect([status, result.stdout]).toEqual(['SUCCESS', 'careless\n'])
  }
  await expect.poll(() => countZombies(process.pid)).toBe(0)
  const groups = '/sys/fs/cgroup/pids'
  if (existsSync(groups)) await expect.poll(() => leftGroups(groups)).toEqual([])
}

const leftGroups = (folder: string) => readdirSync(folder).filter((name) => name.startsWith(`tooldex-${process.pid}-`))
