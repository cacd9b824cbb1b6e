/** A text that ends as a sentence does. */
export const toSentence = (text: string): string => (/[.?]$/.test(text) ? text : `${text}.`)

/** A sentence as a part of another one: without its full stop. */
export const withoutPeriod = (text: string): string => text.replace(/\.$/, '')

/** The first line of a text of a library that appends an excerpt of the input. */
export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** A text of a library with its line breaks and runs of blanks as single blanks. */
export const collapseSpaces = (text: string): string => text.replace(/\s+/g, ' ')
