import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { TooldexError } from '../../base/errors.ts'
import type { CliHost } from './host.ts'
import { reportError } from './report-error.ts'

/** The next step that is printed for a command line with a problem at a field. */
async function nextStep(words: readonly string[], pointer: string): Promise<string> {
  const command = new Command('create')
    .argument('<name>')
    .argument('[parent]', 'the category that contains it')
    .option('--limit <count>', 'maximum number of results')
    .action(() => {})
  await command.parseAsync(words, { from: 'user' })
  const problems = [{ severity: 'error', pointer, message: 'is not valid' } as const]
  const printed: string[] = []
  const host = { err: (part: string) => printed.push(part) } as unknown as CliHost
  reportError(new TooldexError('INPUT_INVALID', 'No.', { problems }), host, { json: false, command })
  const text = printed.join('')
  return text.slice(text.indexOf('next:')).replaceAll(/\u001b\[\d+m/g, '')
}

describe('the next step of an invalid input', () => {
  it.each([
    [[''], '/name', 'next: Set <name>, which is empty.\n'],
    [['A b'], '/name', "next: Correct <name> 'A b'.\n"],
    [['a', ''], '/parent', 'next: Set <parent>, which is empty. <parent>: the category that contains it\n'],
    [['a', '--limit', 'x'], '/limit', "next: Correct --limit 'x'. --limit <count>: maximum number of results\n"],
  ])('names the part of the command line %j at %s', async (words, pointer, text) => {
    expect(await nextStep(words, pointer)).toBe(text)
  })
})
