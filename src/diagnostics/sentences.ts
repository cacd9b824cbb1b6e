/** A text with a period at its end, unless it ends with one or with a question mark. */
export const toSentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`)

/** A sentence without its period, to be part of another one. */
export const withoutPeriod = (text: string): string => text.replace(/\.$/, '')

/** The first line of a text, for messages of libraries that append an excerpt of the input. */
export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** A text with runs of whitespace replaced by single spaces. */
export const collapseSpaces = (text: string): string => text.replace(/\s+/g, ' ')
