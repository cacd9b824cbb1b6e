import * as z from 'zod'
import { findProgram } from '../../executors/process/find-program.ts'
import { processEnv } from '../../rules/settings.ts'
import { createHelpRunner } from '../../sources/cli/import-help/create-help-runner.ts'
import { draftConfig } from '../../sources/cli/import-help/draft-config.ts'
import { defineOperation } from '../operation.ts'

/** Drafts a config from the help text of a program. */
export const importHelp = defineOperation({
  name: 'configs.import',
  summary: 'Draft a config from the --help output of a program; the program is run for its help only.',
  scope: 'admin',
  input: z.object({
    command: z.string().min(1),
    subcommands: z.array(z.string()).default([]),
    max: z.int().min(1).max(200).default(20),
    /** A help text to parse instead of running the program. */
    helpText: z.string().nullish(),
  }),
  output: z.object({ yaml: z.string(), name: z.string(), tools: z.int(), unsure: z.array(z.string()) }),
  async handle(input, { signal, logger }) {
    const runHelp = createHelpRunner({ locate: (word) => findProgram(word, processEnv, process.cwd()) })
    const draft = await draftConfig({
      ...input,
      runHelp,
      signal,
      onProgress: ({ command, done, total }) => logger.info('read the help of a command', { command, done, total }),
    })
    return { ...draft, unsure: [...draft.unsure] }
  },
})
