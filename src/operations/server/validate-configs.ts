import * as z from 'zod'
import { toTooldexError } from '../../base/errors.ts'
import { type Problem, toWireProblem } from '../../base/problem.ts'
import { splitCommandWords } from '../../base/split-words.ts'
import type { CliConfig } from '../../contract/cli-config.ts'
import { findProgram } from '../../executors/process/find-program.ts'
import { findUnknownNames, loadPolicy } from '../../policy/index.ts'
import { processEnv } from '../../rules/settings.ts'
import { loadConfigFile } from '../../sources/cli/index.ts'
import { defineOperation } from '../operation.ts'

const ProblemShape = z.custom<Problem>()

/** Validates config and policy files without running anything. */
export const validateConfigs = defineOperation({
  name: 'configs.validate',
  summary: 'Validate config and policy files without running anything.',
  scope: 'read',
  input: z.object({
    configs: z.array(z.string()).min(1),
    policy: z.string().nullish(),
    strict: z.boolean().default(false),
  }),
  output: z.object({
    files: z.array(
      z.object({
        file: z.string(),
        kind: z.enum(['config', 'policy']),
        valid: z.boolean(),
        name: z.string().nullable(),
        /** Tools of a config, rules of a policy. */
        count: z.int(),
        problems: z.array(ProblemShape),
      }),
    ),
    valid: z.int(),
    invalid: z.int(),
  }),
  handle({ configs, policy, strict }) {
    const loaded: CliConfig[] = []
    const files = configs.map((name) =>
      check('config', name, () => {
        const { config, warnings, file } = loadConfigFile(name, { strict, advise: true })
        loaded.push(config)
        return {
          name: config.name,
          count: config.tools.length,
          problems: [...warnings, ...missingProgram(config, file)],
        }
      }),
    )
    if (policy != null) {
      files.push(
        check('policy', policy, () => {
          const { value, warnings } = loadPolicy(policy)
          const unknown = findUnknownNames(value, loaded).map((message) => warning(policy, message))
          return { name: null, count: Object.keys(value.tools).length, problems: [...warnings, ...unknown] }
        }),
      )
    }
    const valid = files.filter((file) => file.valid).length
    return { files, valid, invalid: files.length - valid }
  },
})

interface Checked {
  readonly name: string | null
  readonly count: number
  readonly problems: Problem[]
}

function check(kind: 'config' | 'policy', file: string, load: () => Checked) {
  try {
    const checked = load()
    return { file, kind, valid: true, ...checked, problems: checked.problems.map(toWireProblem) }
  } catch (thrown) {
    const { problems, message, hint } = toTooldexError(thrown)
    const reasons: Problem[] =
      problems.length > 0 ? problems.map(toWireProblem) : [{ severity: 'error', message, hint }]
    return { file, kind, valid: false, name: null, count: 0, problems: reasons }
  }
}

/** A program that is missing here may be installed where the config is used, so this is only a warning. */
function missingProgram(config: CliConfig, file: string): Problem[] {
  const [program] = splitCommandWords(config.command, processEnv)
  if (program === undefined) return []
  try {
    findProgram(program, processEnv, process.cwd())
    return []
  } catch (thrown) {
    return [warning(file, toTooldexError(thrown).message)]
  }
}

const warning = (file: string, message: string): Problem => ({ severity: 'warning', file, message })
