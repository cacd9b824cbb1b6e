// Characters beyond plain ones that are part of no word: punctuation, arrows, shapes, pictures.

/** The end of a text in which all characters that are not plain are such; 0 where there are others. Lengths are JavaScript's. */
export function oddEnd(start: usize, length: i32): usize {
  let at = start
  for (let left = length; left > 0; left--) {
    const code = load<u8>(at)
    if (code < 0x80) {
      at++
      continue
    }
    const bytes: usize = code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4
    if (!isGap(at, bytes)) return 0
    if (bytes === 4) left--
    at += bytes
  }
  return at
}

function isGap(at: usize, bytes: usize): bool {
  const second = <u32>load<u8>(at, 1) & 63
  if (bytes === 2) return load<u8>(at) === 0xc2 && isLatinGap(0x80 + (second & 63))
  const third = <u32>load<u8>(at, 2) & 63
  const first = <u32>load<u8>(at)
  if (bytes === 3) return isSymbol(((first & 15) << 12) | (second << 6) | third)
  return isPicture(((first & 7) << 18) | (second << 12) | (third << 6) | (<u32>load<u8>(at, 3) & 63))
}

/** Of U+0080 to U+00BF all but letters and numbers. */
function isLatinGap(code: u32): bool {
  return code !== 0xaa && code !== 0xb5 && code !== 0xba && !(code === 0xb2 || code === 0xb3 || code === 0xb9 || code >= 0xbc && code <= 0xbe)
}

/** General punctuation; arrows and signs; lines, shapes and ornaments; punctuation and symbols of East Asia. */
function isSymbol(code: u32): bool {
  if (code < 0x2500) return (code >= 0x2000 && code < 0x2070) || (code >= 0x2190 && code < 0x2400)
  return code < 0x2776 || (code >= 0x3001 && code <= 0x3003) || (code >= 0x3008 && code <= 0x3020) || (code >= 0xff01 && code <= 0xff0f) || (code >= 0xff1a && code <= 0xff20)
}

function isPicture(code: u32): bool {
  return code >= 0x1f300 && code < 0x1f700
}
