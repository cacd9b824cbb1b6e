import { type Environment, expandHome, expandVariables } from './expand-variables.ts'
/** Splits a command line into words: quotes group, a backslash escapes the next character. A line with an unclosed quote is split at whitespace only. */
export function splitWords(line: string): readonly string[] {
  return splitQuoted(line).words ?? line.split(/\s+/).filter((word) => word !== '')
}

/** The quote that a command line opens and never closes. */
export function findOpenQuote(line: string): string | undefined {
  return splitQuoted(line).open
}

interface SplitLine {
  readonly words?: readonly string[]
  readonly open?: string
}

function splitQuoted(line: string): SplitLine {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index)
    if (quote !== '') {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"' && '"\\$`'.includes(line.charAt(index + 1))) word += line.charAt(++index)
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (char === '\\' && index + 1 < line.length) {
      word = (word ?? '') + line.charAt(++index)
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (quote !== '') return { open: quote }
  return { words: word === undefined ? words : [...words, word] }
}

/** The words of a config's command. Variables are expanded after splitting: the value of a variable stays within its word. */
export function splitCommandWords(command: string, env: Environment): readonly string[] {
  return splitWords(command).map((word) => expandVariables(expandHome(word, env), env).text)
}
