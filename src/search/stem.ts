// Porter's algorithm: endings are taken off step by step while enough of the word is left. The measure of a word is how often
// a vowel is followed by a consonant in it.
const vowel = /[aeiouy]/
const shortEnd = /[^aeiouy][aeiouy][^aeiouywx]$/

const longEndings: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
]
const middleEndings: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const lastEndings = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ion',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
]

/** The stem of an English word in lower case, so that `commits`, `committed` and `committing` meet; other words stay. */
export function stem(word: string): string {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return word
  let rest = withoutPast(withoutPlural(word))
  if (rest.length > 2 && rest.endsWith('y') && vowel.test(rest.slice(0, -1))) rest = `${rest.slice(0, -1)}i`
  rest = replaceEnding(replaceEnding(rest, longEndings), middleEndings)
  return withoutFinalE(withoutLast(rest))
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return `${word.slice(0, -3)}${word.length > 4 ? 'i' : 'ie'}`
  if (word.endsWith('ss') || word.endsWith('us') || !word.endsWith('s')) return word
  return vowel.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = ['ed', 'ing'].find((end) => word.endsWith(end) && vowel.test(word.slice(0, -end.length)))
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return measure(rest) === 1 && shortEnd.test(rest) ? `${rest}e` : rest
}

function replaceEnding(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(([end]) => word.endsWith(end))
  if (found === undefined) return word
  const rest = word.slice(0, -found[0].length)
  return measure(rest) > 0 ? rest + found[1] : word
}

function withoutLast(word: string): string {
  const ending = lastEndings.find((end) => word.endsWith(end))
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  return measure(rest) > 1 && (ending !== 'ion' || /[st]$/.test(rest)) ? rest : word
}

function withoutFinalE(word: string): string {
  let rest = word
  if (word.endsWith('e')) {
    const cut = word.slice(0, -1)
    if (measure(cut) > 1 || (measure(cut) === 1 && !shortEnd.test(cut))) rest = cut
  }
  return rest.endsWith('ll') && measure(rest) > 1 ? rest.slice(0, -1) : rest
}

function measure(word: string): number {
  return word.match(/[aeiouy]+[^aeiouy]+/g)?.length ?? 0
}
