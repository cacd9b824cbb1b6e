// Many tools at once: their texts one after the other in UTF-8, and a list of heads that says what is what.
import { take } from './memory'
import { addName, readSpelling } from './names'
import { add } from './tools'
import { readText, textEnd } from './texts'
import { clear } from './words'

/** A head of a text: its field and how long it is, as JavaScript counts. After the texts of a tool: -1 and its position. */
const headBytes: usize = 8
const endOfTool: i32 = -1
const idField: i32 = 7
const textStart: i32 = 1 << 27
const slack: i32 = 64
const done: i32 = -1

let textRoom: i32 = 1 << 16
let text = take(textRoom)
let headRoom: i32 = 1 << 10
let heads = take(<usize>headRoom * headBytes)
let headCount: i32 = 0
let head: i32 = 0
let at: usize = 0
/** How much of the texts was read before the one that is next. */
let units: i32 = 0
/** Whether no text can be read here, as words are cut out in another way. */
let closed: bool = true

export function textAt(bytes: i32): usize {
  if (bytes + slack > textRoom) {
    textRoom = (bytes + slack) * 2
    text = take(textRoom)
  }
  return text
}
export function headsAt(count: i32): usize {
  if (count > headRoom) {
    headRoom = count * 2
    heads = take(<usize>headRoom * headBytes)
  }
  return heads
}

/** Texts of plain letters are read here from now on. */
export function readPlain(): void {
  closed = false
}

/** Reads what was put here. The number of a head says that its text must be cut into words elsewhere, -1 that all is read. */
export function readBatch(count: i32): i32 {
  headCount = count
  head = 0
  at = text
  units = 0
  clear()
  return readOn()
}

/** Goes on with the text of the head that was told. */
export function again(): i32 {
  return readOn()
}

/** Goes on after it. */
export function resume(): i32 {
  const length = load<i32>(heads + <usize>head * headBytes, 4)
  at = skip(at, length)
  units += length
  head++
  return readOn()
}

export function getUnits(): i32 {
  return units
}

function readOn(): i32 {
  for (; head < headCount; head++) if (!readHead(heads + <usize>head * headBytes)) return head
  return done
}

function readHead(start: usize): bool {
  const field = load<i32>(start)
  const length = load<i32>(start, 4)
  if (field === endOfTool) {
    add(length)
    addName(length)
    clear()
    return true
  }
  if (closed) return false
  if (field === idField) {
    if (!readSpelling(at, length)) return false
    at += length
  } else {
    if (!readText(at, length, field << 24, textStart)) return false
    at = textEnd
  }
  units += length
  return true
}

/** The end of a text: a character of four bytes counts two, any other one. */
function skip(start: usize, length: i32): usize {
  let end = start
  for (let left = length; left > 0; left--) {
    const code = load<u8>(end)
    if (code >= 0xf0) left--
    end += code < 0x80 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4
  }
  return end
}
