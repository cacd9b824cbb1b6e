import { readFile } from 'node:fs/promises'
import { brotliDecompressSync } from 'node:zlib'
import { mergeBytes } from './merge-bytes.ts'
import { tokenRanksFile } from './package-info.ts'

/** Counts the tokens of a text. */
export type TokenCounter = (text: string) => number

/** The rank of each token, by its bytes as a Latin-1 string. */
type Ranks = ReadonlyMap<string, number>

const words =
  /'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s/gu
const isAscii = /^[\0-\x7f]*$/

let loading: Promise<TokenCounter> | undefined

/** A counter in the cl100k vocabulary, loaded with its first use. */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= readRanks().then((ranks) => (text) => countTokens(text, ranks))
  return loading
}

function countTokens(text: string, ranks: Ranks): number {
  // Names of special tokens are ordinary text here, as in the messages that are sent to a model.
  let count = 0
  for (const [word] of text.matchAll(words)) count += countWord(word, ranks)
  return count
}

function countWord(word: string, ranks: Ranks): number {
  const bytes = isAscii.test(word) ? word : Buffer.from(word, 'utf8').toString('latin1')
  return ranks.has(bytes) ? 1 : mergeBytes(bytes, ranks)
}

/** The file has one entry per token, in the order of rank: the length in one byte, then the bytes (scripts/pack-tokens.mjs). */
async function readRanks(): Promise<Ranks> {
  const packed = brotliDecompressSync(await readFile(tokenRanksFile))
  const ranks = new Map<string, number>()
  for (let at = 0; at < packed.length; ) {
    const length = packed[at] as number
    ranks.set(packed.toString('latin1', at + 1, at + 1 + length), ranks.size)
    at += 1 + length
  }
  return ranks
}
