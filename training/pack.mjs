// Puts a trained encoder into the one file that ships: pack.mjs TRAINED.bin TRAINED.json VOCAB.json OUT.bin [NEAR.bin]
//   NEAR.bin  the near words of each word, made by near-words.py
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const [trained, settings, vocab, out, nearWords] = process.argv.slice(2)
const { dim, field } = JSON.parse(readFileSync(settings, 'utf8'))
const words = JSON.parse(readFileSync(vocab, 'utf8'))
const [name, context, description, paramNames, paramTexts] = field
const fields = { name, context, description, paramNames, paramTexts }
const nearBytes = nearWords === undefined ? Buffer.alloc(0) : readFileSync(nearWords)
// An end of 4 bytes for each word, then 3 bytes for each pair.
const near = Math.max(0, (nearBytes.length - words.length * 4) / 3)
const header = Buffer.from(JSON.stringify({ format: 1, dim, words: words.length, fields, near }))
const text = Buffer.from(words.join('\n'))
const pad = (length) => Buffer.alloc((4 - (length % 4)) % 4)
const sizes = Buffer.alloc(8)
sizes.writeUInt32LE(header.length, 0)
sizes.writeUInt32LE(text.length, 4)
const parts = [sizes, header, pad(header.length), text, pad(text.length), readFileSync(trained), nearBytes]
const whole = Buffer.concat(parts)
writeFileSync(out, whole)
const sum = createHash('sha256').update(whole).digest('hex')
writeFileSync(join(dirname(out), 'SHA256SUMS'), `${sum}  ${basename(out)}\n`)
