import { describe, expect, it } from 'vitest'
import { type FlagTool, liftOwnFlags, parseToolFlags, toolHelp } from './tool-flags.ts'

const options = [
  { name: 'server', takesValue: true },
  { name: 'args', takesValue: true },
  { name: 'wait', takesValue: false },
]
const tool: FlagTool = {
  name: 'send',
  positional: ['to'],
  properties: { to: { type: 'string' }, server: { type: 'string' }, urgent: { type: 'boolean' } },
}

describe('options of tooldex call after the name of the tool', () => {
  it('are taken out, in every spelling', () => {
    expect(liftOwnFlags(['a', '--args={"x": 1}', '--wait', '--urgent', 'b', '--server', 'u'], options)).toEqual({
      lifted: [
        { name: 'args', value: '{"x": 1}' },
        { name: 'wait', value: true },
        { name: 'server', value: 'u' },
      ],
      rest: ['a', '--urgent', 'b'],
    })
  })

  it('stay the tool’s where it has an argument of that name', () => {
    const words = ['--server', 'mail', '--urgent', '--wait', 'me']
    expect(liftOwnFlags(words, options, tool)).toEqual({
      lifted: [{ name: 'wait', value: true }],
      rest: ['--server', 'mail', '--urgent', 'me'],
    })
  })

  it('are not looked for in the value of an argument', () => {
    expect(liftOwnFlags(['--to', '--wait'], options, tool)).toEqual({ lifted: [], rest: ['--to', '--wait'] })
  })

  it('need their values', () => {
    expect(() => liftOwnFlags(['x', '--args'], options, tool)).toThrow('--args needs a value')
  })
})

it('shows the values that need no flag first, in the order in which they are taken', () => {
  const properties = { destination: { type: 'string' }, force: { type: 'boolean' }, source: { type: 'string' } }
  const help = toolHelp({ name: 'copy', properties, positional: ['source', 'destination'] }, 'Copies.', ['source'])
  expect(help.match(/--\w+/g)).toEqual(['--source', '--destination', '--force'])
})

describe('the arguments after --', () => {
  const words = ['--urgent', '--', '--wait']
  it('are values, not flags', () => {
    expect(parseToolFlags(words, tool)).toEqual({ values: { urgent: 'true', to: '--wait' }, own: new Set() })
    expect(parseToolFlags(['--server', '--', '--', '--'], tool).values).toEqual({ server: '--', to: '--' })
    expect(liftOwnFlags(words, options, tool)).toEqual({ lifted: [], rest: words })
  })
})
