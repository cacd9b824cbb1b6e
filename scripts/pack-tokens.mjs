// Packs the ranks of the cl100k_base vocabulary into model/cl100k_base.br: for each token, in the order of rank, its length
// in one byte and its bytes; then Brotli. The tokenizer package is needed for this and for the test only.
import { writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base'

const parts = []
for (const token of ranks) {
  const bytes = Buffer.from(token)
  parts.push(Buffer.from([bytes.length]), bytes)
}
const packed = brotliCompressSync(Buffer.concat(parts), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
})
writeFileSync(new URL('../model/cl100k_base.br', import.meta.url), packed)
console.log(`${ranks.length} tokens in ${packed.length} bytes`)
