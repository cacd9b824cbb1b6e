import { readFileSync } from 'node:fs'
import type { SearchableTool } from '../contract/search.ts'
import { splitIdentifiers } from './split-identifiers.ts'
import { type FieldName, toolFields } from './tool-fields.ts'

/** Turns texts into vectors whose cosine says how alike they are in meaning. */
export interface Embedder {
  readonly dim: number
  /** Unit vectors; undefined for a text with no known word. */
  embedQuery(text: string): Float32Array | undefined
  embedTool(tool: SearchableTool): Float32Array | undefined
}

type ModelField = 'name' | 'context' | 'description' | 'paramNames' | 'paramTexts'

interface Header {
  readonly dim: number
  readonly words: number
  readonly fields: Readonly<Record<ModelField, number>>
}

const modelFields: Readonly<Record<FieldName, ModelField>> = {
  name: 'name',
  namespace: 'context',
  category: 'context',
  tags: 'context',
  description: 'description',
  paramNames: 'paramNames',
  paramTexts: 'paramTexts',
}

/** Loads the encoder that ships with the package: a vector and two weights for each word, nothing more. */
export function loadEncoder(file: string): Embedder {
  const bytes = readFileSync(file)
  const aligned = (size: number) => Math.ceil(size / 4) * 4
  const [headerSize, textSize] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
  const header: Header = JSON.parse(bytes.toString('utf8', 8, 8 + headerSize))
  const textAt = 8 + aligned(headerSize)
  const numbersAt = textAt + aligned(textSize)
  const vocabulary = new Map<string, number>()
  for (const word of bytes.toString('utf8', textAt, textAt + textSize).split('\n'))
    vocabulary.set(word, vocabulary.size)
  const numbers = new Float32Array(
    bytes.buffer.slice(bytes.byteOffset + numbersAt, bytes.byteOffset + numbersAt + header.words * 12),
  )
  const table = new Int8Array(bytes.buffer, bytes.byteOffset + numbersAt + header.words * 12, header.words * header.dim)
  return new WordEncoder(header, vocabulary, numbers, table)
}

class WordEncoder implements Embedder {
  readonly dim: number
  readonly #header: Header
  readonly #vocabulary: ReadonlyMap<string, number>
  readonly #numbers: Float32Array
  readonly #table: Int8Array

  constructor(header: Header, vocabulary: ReadonlyMap<string, number>, numbers: Float32Array, table: Int8Array) {
    this.dim = header.dim
    this.#header = header
    this.#vocabulary = vocabulary
    this.#numbers = numbers
    this.#table = table
  }

  embedQuery(text: string): Float32Array | undefined {
    const sum = new Float32Array(this.dim)
    this.#add(sum, this.#wordsOf(text), this.#header.words, 1)
    return normalize(sum)
  }

  /** The sum over the fields, each by its weight and the root of its length. */
  embedTool(tool: SearchableTool): Float32Array | undefined {
    const fields = new Map<ModelField, number[]>()
    for (const { field, text } of toolFields(tool)) {
      const words = fields.get(modelFields[field]) ?? []
      fields.set(modelFields[field], words)
      words.push(...this.#wordsOf(text))
    }
    const sum = new Float32Array(this.dim)
    for (const [field, words] of fields) {
      this.#add(sum, words, this.#header.words * 2, this.#header.fields[field] / Math.sqrt(Math.max(words.length, 1)))
    }
    return normalize(sum)
  }

  #wordsOf(text: string): readonly number[] {
    const known: number[] = []
    for (const word of splitIdentifiers(text)) {
      const index = this.#vocabulary.get(word)
      // Numbers are in the vocabulary of the training texts, but mean nothing here.
      if (index !== undefined && word.charCodeAt(0) > 57) known.push(index)
    }
    return known
  }

  /** `weightsAt` chooses the weights a word has in a query or in a tool. */
  #add(sum: Float32Array, words: readonly number[], weightsAt: number, factor: number): void {
    const numbers = this.#numbers
    const table = this.#table
    const dim = this.dim
    for (const word of words) {
      const scale = factor * (numbers[word] as number) * (numbers[weightsAt + word] as number)
      for (let column = 0, at = word * dim; column < dim; column++, at++) {
        sum[column] = (sum[column] as number) + scale * (table[at] as number)
      }
    }
  }
}

function normalize(vector: Float32Array): Float32Array | undefined {
  let squares = 0
  for (const value of vector) squares += value * value
  if (squares < 1e-18) return undefined
  const length = Math.sqrt(squares)
  for (let column = 0; column < vector.length; column++) vector[column] = (vector[column] as number) / length
  return vector
}
