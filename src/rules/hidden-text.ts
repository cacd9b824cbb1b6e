// Characters that a model reads and a person does not see, and the escape sequences of terminals. A run of them is judged as a whole.
const marks =
  '\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb'
const runs = new RegExp(
  `[${marks}\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}]+|\\u001b(?:\\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\\]PX^_][^\\u0007\\u001b]{0,64}|[()][AB0]|[78=>cM])?`,
  'gu',
)
const someHidden = new RegExp(`[${marks}\\u001b\\u{e0000}-\\u{e01ef}]`, 'u')

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const ideograph = /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{323af}]$/u
const word = /[A-Za-z0-9]/
const blackFlag = '\u{1f3f4}'
/** The tags in the flags of England, Scotland and Wales, the only ones of emoji. */
const flagTags = new Set(['gbeng', 'gbsct', 'gbwls'].map((code) => `${toTags(code)}\u{e007f}`))
// Enough of a line to know its direction.
const nearby = 200
const maxRun = { plain: 2, rightToLeft: 6 }

/** Whether a text hides something from a person; joiners of emoji and scripts, and marks in right-to-left text, do not. */
export function hasHiddenText(text: string): boolean {
  if (!someHidden.test(text)) return false
  for (const { 0: run, index } of text.matchAll(runs)) if (!isOrdinary(run, index, text)) return true
  return false
}

/** The text with everything hidden written as `\u{...}`; ordinary joiners and marks stay. */
export function showHiddenText(text: string): string {
  if (!someHidden.test(text)) return text
  return text.replace(runs, (run: string, index: number) => (isOrdinary(run, index, text) ? run : toEscapes(run)))
}

/** The text without characters that can split its words. */
export const withoutHiddenText = (text: string): string => (someHidden.test(text) ? text.replace(runs, '') : text)

function isOrdinary(run: string, index: number, text: string): boolean {
  if (run.startsWith('\u001b')) return isDisplaySequence(run)
  const before = text.slice(Math.max(0, index - 2), index)
  if (/[\u{e0000}-\u{e007f}]/u.test(run)) return before === blackFlag && flagTags.has(run)
  if (/[\u202d\u202e\ufff9-\ufffb]/.test(run)) return false
  const length = Array.from(run).length
  if (/[\u{e0100}-\u{e01ef}]/u.test(run)) return length === 1 && ideograph.test(before)
  const isRightToLeft = rightToLeft.test(text.slice(Math.max(0, index - nearby), index + nearby))
  if (/[\u202b\u2067]/.test(run) && !isRightToLeft) return false
  if (length > (isRightToLeft ? maxRun.rightToLeft : maxRun.plain)) return false
  // Soft hyphens and isolates stand between Latin letters; others split a word invisibly.
  const splits = /[^\u00ad\u2066\u2068\u2069]/.test(run)
  return !(splits && word.test(before.slice(-1)) && word.test(text.charAt(index + run.length)))
}

/** Colors and cursor movements of programs, and links; concealed text and other commands to a terminal are hidden. */
function isDisplaySequence(sequence: string): boolean {
  const [, parameters, final] = /^\u001b\[([0-?]*)[ -/]*([@-~])$/.exec(sequence) ?? []
  if (final === undefined) return sequence.startsWith('\u001b]8;') || /^\u001b(?:[()][AB0]|[78=>M])$/.test(sequence)
  if (final === 'm') return !parameters?.split(';').some((each) => Number(each) === 8 && !/[345]8/.test(parameters))
  return 'ABCDEFGHJKfhlsu'.includes(final)
}

function toTags(code: string): string {
  return Array.from(code, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
}

const toEscapes = (run: string): string =>
  Array.from(run, (char) => (/[ -~]/.test(char) ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)).join('')
