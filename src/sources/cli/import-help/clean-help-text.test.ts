import { expect, it } from 'vitest'
import { parseHelp } from './parse-help.ts'
import { cleanHelpText } from './split-help.ts'

it('reads options in two columns as one', () => {
  const text = [
    '  -f   freshen: only changed files  -u   update: only changed or new files',
    '  -d   delete entries in zipfile    -m   move into zipfile (delete OS files)',
    '  -r   recurse into directories     -j   junk (do not record) directory names',
  ].join('\n')
  expect(cleanHelpText(text)).toEqual([
    '  -f   freshen: only changed files',
    '  -u   update: only changed or new files',
    '  -d   delete entries in zipfile',
    '  -m   move into zipfile (delete OS files)',
    '  -r   recurse into directories',
    '  -j   junk (do not record) directory names',
  ])
})

it('leaves rows alone that only mention another option', () => {
  const lines = ['  -a   as  -b  does, once', '  -c, --count   number of lines', '  -x   same as  --exact']
  expect(cleanHelpText(lines.join('\n'))).toEqual(lines)
})

it('reads names of commands in columns at the margin, below several headings', () => {
  const text = [
    'help:',
    '',
    'Standard commands',
    'pack              unpack            verify            ',
    'sign              ',
    '',
    "Digest commands (see the `sum' command for more)",
    'crc32             sum-256           sum-512           ',
    '',
    'Anything else     is no             row of names, really',
  ].join('\n')
  const { subcommands, isGroup } = parseHelp(text, ['sealer'])
  expect(subcommands.map(({ name }) => name)).toEqual([
    'pack',
    'unpack',
    'verify',
    'sign',
    'crc32',
    'sum-256',
    'sum-512',
  ])
  expect(isGroup).toBe(true)
})
