import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { TooldexError } from '../../../base/errors.ts'
import { ensureFolder } from '../../../base/file-system.ts'
import { invoke } from '../../../operations/invoke.ts'
import { importHelp } from '../../../operations/server/import-help.ts'
import { type AddCommand, parseCount, toJson } from './command.ts'
import { addImportMcp } from './registry/import-mcp.ts'
import { addImportOpenApi } from './registry/import-openapi.ts'

interface ImportFlags {
  readonly out?: string
  readonly from?: string
  readonly max?: number
  readonly json?: boolean
}

/** `tooldex import help COMMAND` drafts a config from the help text of a program; `import openapi` registers a service. */
export const addImport: AddCommand = (program, host, exit) => {
  const command = program.command('import')
  addImportOpenApi(command, host)
  addImportMcp(command, host, exit)
  command
    .command('help')
    .description('draft a config from the --help output of a program')
    .argument('<command>', 'program to read')
    .argument('[subcommand...]', 'only these subcommands')
    .option('-o, --out <file>', 'write the draft to this file instead of printing it')
    .option('--from <file>', 'read the help text from a file instead of running the program')
    .option('--max <n>', 'maximum number of subcommands', parseCount)
    .option('--json', 'print JSON')
    .action(async (name: string, subcommands: string[], flags: ImportFlags) => {
      const helpText = flags.from === undefined ? undefined : readFile(flags.from)
      const input = { command: name, subcommands, max: flags.max, helpText }
      const answer = await invoke(importHelp, input, { ...(await host.open({ configs: [] })), signal: host.signal })
      if (flags.json) return host.out(toJson(answer))
      if (flags.out === undefined) host.out(answer.yaml)
      else writeNew(flags.out, answer.yaml)
      const where = flags.out === undefined ? '' : ` to ${flags.out}`
      host.err(`Drafted ${answer.tools} tool(s)${where}; ${answer.unsure.length} line(s) marked "# unsure".\n`)
      if (flags.out !== undefined) host.err(`Next: review it, then run: tooldex validate --strict ${flags.out}\n`)
    })
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TooldexError('FILE_REFUSED', `${path} cannot be read.`, { cause })
  }
}

function writeNew(path: string, text: string): void {
  try {
    ensureFolder(dirname(path))
    writeFileSync(path, text, { flag: 'wx' })
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'already exists' : 'cannot be written'
    throw new TooldexError('FILE_REFUSED', `${path} ${why}.`, { hint: 'Choose another file.', cause })
  }
}
