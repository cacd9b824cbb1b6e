// The program, or what TEST_ENTRY names, which kills itself when the fault point of the number in a file is reached; while there is no such file
// nothing is counted. What is reached is written down, so that the last line says where it ended.
import { appendFileSync, readFileSync } from 'node:fs'
import { onFaultPoint } from '../../dist/rules/fault-points.js'

const { TEST_KILL_FILE: killFile, TEST_POINTS_FILE: pointsFile, TEST_POINTS: which = '.' } = process.env
const counted = new RegExp(which)
let reached = 0

onFaultPoint((point) => {
  if (!counted.test(point)) return
  let killAt
  try {
    killAt = Number(readFileSync(killFile, 'utf8'))
  } catch {
    return
  }
  appendFileSync(pointsFile, `${point}\n`)
  if (++reached === killAt) process.kill(process.pid, 'SIGKILL')
})

await import(process.env.TEST_ENTRY ?? '../../dist/app/main.js')
