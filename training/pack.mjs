// Puts a trained encoder into the one file that ships: pack.mjs TRAINED.bin TRAINED.json VOCAB.json OUT.bin
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const [trained, settings, vocab, out] = process.argv.slice(2)
const { dim, field } = JSON.parse(readFileSync(settings, 'utf8'))
const words = JSON.parse(readFileSync(vocab, 'utf8'))
const [name, context, description, paramNames, paramTexts] = field
const fields = { name, context, description, paramNames, paramTexts }
const header = Buffer.from(JSON.stringify({ format: 1, dim, words: words.length, fields }))
const text = Buffer.from(words.join('\n'))
const pad = (length) => Buffer.alloc((4 - (length % 4)) % 4)
const sizes = Buffer.alloc(8)
sizes.writeUInt32LE(header.length, 0)
sizes.writeUInt32LE(text.length, 4)
const parts = [sizes, header, pad(header.length), text, pad(text.length), readFileSync(trained)]
const whole = Buffer.concat(parts)
writeFileSync(out, whole)
const sum = createHash('sha256').update(whole).digest('hex')
writeFileSync(join(dirname(out), 'SHA256SUMS'), `${sum}  ${basename(out)}\n`)
