import { describe, expect, it } from 'vitest'
import { ArgDef } from '../../contract/cli-config.ts'
import { globalArgumentValues } from './prepare-command.ts'

const env = { VAULT: 'notes', HOME: '/root', EMPTY: '' }
const valueWith = (definition: Partial<ArgDef>) =>
  globalArgumentValues([ArgDef.parse({ name: 'g', ...definition })], env).get('g')

describe('globalArgumentValues', () => {
  it.each([
    ['a plain text', 'plain', 'plain'],
    ['a variable', '$VAULT', 'notes'],
    ['a braced one', 'x-${VAULT}-y', 'x-notes-y'],
    ['a default', '${UNSET:-fallback}', 'fallback'],
    ['a partly filled text, the rest as written', '$HOME/$UNSET', '/root/$UNSET'],
    ['a dollar that names nothing', 'cost: 5$', 'cost: 5$'],
    ['a number', 0, 0],
    ['a boolean', false, false],
  ])('keeps %s', (_, value, expected) => {
    expect(valueWith({ default: value })).toBe(expected)
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['the empty text', ''],
    ['an unset variable', '$UNSET'],
    ['a text in which nothing could be filled in', 'pre-$UNSET'],
    ['a variable that is empty', '$EMPTY'],
  ])('leaves the argument out for %s', (_, value) => {
    expect(valueWith({ default: value })).toBeUndefined()
  })

  it('fills in each value of a list and drops the unset ones', () => {
    expect(valueWith({ repeat: true, default: ['$VAULT', '$UNSET', 'x'] })).toEqual(['notes', 'x'])
    expect(valueWith({ repeat: true, default: ['$UNSET'] })).toBeUndefined()
  })
})
