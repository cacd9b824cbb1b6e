import * as z from 'zod'
import { findUnknownParameter, parameterNames } from '../parameter-names.ts'
import { type ConfigFinding, defineConfigCheck, type InputSchema, TimeoutMs } from '../read-config.ts'

const noNul = (text: z.ZodString) => text.regex(/^[^\0]*$/, 'must not have the character U+0000')

/** The words of a command; a word `{{name}}` stands for the value of a parameter. */
export const ShellConfig = z.strictObject({
  command: z
    .array(noNul(z.string().max(10_000)))
    .min(1)
    .max(500),
  cwd: noNul(z.string().min(1)).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'), noNul(z.string())).optional(),
  timeoutMs: TimeoutMs.optional(),
})
export type ShellConfig = z.infer<typeof ShellConfig>

const whole = /^\{\{\s*([^{}\s]+)\s*\}\}$/

/** What is wrong with the config of a command. */
export const checkShellConfig = defineConfigCheck(ShellConfig, (config, inputSchema) => [
  ...checkProgram(config.command[0] ?? ''),
  ...config.command.flatMap((word, index) => checkWord(word, index, inputSchema)),
  ...checkFixed(config),
  ...findUnused(config, inputSchema),
])

function checkProgram(word: string): readonly ConfigFinding[] {
  const path = ['command', 0]
  if (word.trim() === '') return [{ path, message: 'the first word must name a program' }]
  if (!whole.test(word)) return []
  return [{ path, message: 'the program itself may not be a parameter', hint: 'write its name' }]
}

function checkWord(word: string, index: number, inputSchema: InputSchema): readonly ConfigFinding[] {
  const path = ['command', index]
  const name = whole.exec(word)?.[1]
  if (name !== undefined) return findUnknownParameter(name, parameterNames(inputSchema), path)
  if (!word.includes('{{')) return []
  const hint = 'give it a word of its own, such as ["--name", "{{name}}"]'
  return [
    { path, message: `a parameter must be a whole word of the command, not a part of '${word.slice(0, 100)}'`, hint },
  ]
}

function checkFixed({ cwd, env = {} }: ShellConfig): readonly ConfigFinding[] {
  const texts: [string[], string][] = Object.entries(env).map(([name, value]) => [['env', name], value])
  if (cwd !== undefined) texts.push([['cwd'], cwd])
  return texts
    .filter(([, text]) => text.includes('{{'))
    .map(([path]) => ({
      path,
      message: `${path.join('.')} may not have parameters`,
      hint: 'only words of the command may',
    }))
}

function findUnused({ command }: ShellConfig, inputSchema: InputSchema): readonly ConfigFinding[] {
  const used = new Set(command.map((word) => whole.exec(word)?.[1]))
  const unused = [...(parameterNames(inputSchema) ?? [])].filter((name) => !used.has(name))
  return unused.map((name) => ({
    path: ['command'],
    message: `the command never uses the parameter '${name}'`,
    hint: `add "{{${name}}}", or drop it from the input schema`,
    severity: 'warning',
  }))
}
