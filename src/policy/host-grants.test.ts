import { describe, expect, it } from 'vitest'
import { allGrants } from '../contract/executor-kinds.ts'
import { readGrants } from './host-grants.ts'

describe('grants of workspaces', () => {
  it('are all for the first workspace and none for others, unless an argument names them', () => {
    const grantsOf = readGrants(['team=folders', 'team=network', 'other=all'])
    expect(grantsOf('default')).toEqual(allGrants)
    expect(grantsOf('team')).toEqual(['folders', 'network'])
    expect(grantsOf('other')).toEqual(allGrants)
    expect(grantsOf('third')).toEqual([])
    expect(readGrants(['default=none'])('default')).toEqual([])
  })

  it.each(['constructor', 'folders,constructor', 'toString', 'x'])('do not include %s', (list) => {
    expect(() => readGrants([`team=${list}`])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  it.each(['team', '=all', 'Team=all', 'team=all=all', '__proto__=all'])('are not read from %s', (arg) => {
    expect(() => readGrants([arg])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  it.each(['toString', 'constructor', '__proto__'])('are none for a workspace called %s', (workspace) => {
    expect(readGrants([])(workspace)).toEqual([])
  })
})
