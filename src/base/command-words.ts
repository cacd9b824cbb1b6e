import { type Environment, expandHome, expandVariables } from './expand-variables.ts'
import { splitWords } from './split-words.ts'

/** The words of a config's command. Variables are expanded after splitting: the value of a variable stays within its word. */
export function commandWords(command: string, env: Environment): readonly string[] {
  return splitWords(command).map((word) => expandVariables(expandHome(word, env), env).text)
}
