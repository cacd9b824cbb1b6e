// Memory of a kernel: taken from the end, never given back; what grows is copied to a place with more room, or stretched
// where it is the last.
let top: usize = __heap_base

/** Room for so many bytes, filled with zeros. */
export function take(bytes: usize): usize {
  const start = (top + 15) & ~15
  top = start + bytes
  const missing = <isize>top - (<isize>memory.size() << 16)
  if (missing > 0) memory.grow(max(<i32>((missing + 0xffff) >> 16), memory.size() >> 3))
  return start
}

/** The same bytes with more room after them. */
export function stretch(start: usize, bytes: usize, wanted: usize): usize {
  if (start + bytes === top) {
    take(wanted - bytes)
    top = start + wanted
    return start
  }
  const moved = take(wanted)
  memory.copy(moved, start, bytes)
  return moved
}
