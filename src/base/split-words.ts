/** Splits a command line into words: quotes group, a backslash takes the next character, nothing else is special. */
export function splitWords(line: string): readonly string[] {
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
  if (quote !== '') throw new SyntaxError(`a ${quote} is never closed`)
  if (word !== undefined) words.push(word)
  return words
}
