import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { toCommand, toCurl, toTypeScript } from './call-texts.ts'

const hostile = `it's "quoted" $(id) \`id\` \\ \u202e\n--flag`
const call = { origin: 'http://127.0.0.1:7331', tool: 'examples:echo', input: { text: hostile } }
/** The words that a shell makes of a command. */
const words = (command: string) =>
  execFileSync('/bin/sh', ['-c', `TOOLDEX_API_KEY=KEY; for word in ${command}; do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8',
  }).split('\0')

it('quotes every text for a shell', () => {
  expect(words(toCurl(call))).toEqual([
    'curl',
    '-X',
    'POST',
    'http://127.0.0.1:7331/api/v1/tools/examples%3Aecho/execute',
    '-H',
    'Authorization: Bearer KEY',
    '-H',
    'content-type: application/json',
    '-d',
    JSON.stringify({ input: call.input, wait: true }),
    '',
  ])
  expect(words(toCommand(call)).slice(-3)).toEqual(['--args', JSON.stringify(call.input), ''])
})

it('writes a program with the input as a literal', () => {
  const [, literal = ''] = /execute\((\{[\s\S]*\})\)/.exec(toTypeScript(call)) ?? []
  expect(JSON.parse(literal)).toEqual({ idOrName: call.tool, input: call.input, wait: true })
})
