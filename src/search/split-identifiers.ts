/** The words of a text in lower case: identifiers are taken apart at underscores, dashes and capital letters. */
export function splitIdentifiers(text: string): readonly string[] {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
