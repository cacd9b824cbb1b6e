import { expect, it } from 'vitest'
import { formatTable } from './format-table.ts'

it('never breaks an id, however narrow the table', () => {
  const id = '0cf195f1-9ae5-4c3d-9119-929d7a512434'
  const row = [id, 'a tool of a long name', 'FAILED (because of something long)', 'EXECUTION_FAILED']
  for (const width of [20, 60, 80, 120]) {
    const lines = formatTable(['Execution', 'Tool', 'State', 'Error'], [row], width).split('\n')
    expect(lines.filter((line) => line.includes(id))).toHaveLength(1)
  }
})
