// Memory of a kernel: taken from the end, never given back; what grows is copied to a place with more room, or stretched
// where it is the last.
let top: usize = __heap_base

/** Room for so many bytes, filled with zeros. */
export function take(bytes: usize): usize {
  const start = (top + 15) & ~15
  top = start + bytes
  const missing = <isize>top - (<isize>memory.size() << 16)
  if (missing > 0) grow(<i32>((missing + 0xffff) >> 16))
  return start
}

/** Makes sure of so many bytes more, to be taken piece by piece. */
export function reserve(bytes: usize): void {
  const missing = <isize>(top + bytes) - (<isize>memory.size() << 16)
  if (missing > 0) memory.grow(<i32>((missing + 0xffff) >> 16))
}

/**
 * In few, large steps: pages that nobody touches cost nothing, but JavaScript counts the memory before and after each growth as
 * its own for a while, and collects its garbage where that is too much.
 */
function grow(pages: i32): void {
  const step = memory.size() < 32 ? memory.size() : max(128, memory.size() >> 1)
  if (memory.grow(max(pages, step)) < 0) memory.grow(pages)
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
