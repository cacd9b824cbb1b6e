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

/**
 * Twice as much as before where that can be had: pages that nobody touches cost nothing, but JavaScript counts each growth as
 * memory of its own, and collects its garbage for it.
 */
function grow(pages: i32): void {
  if (memory.grow(max(pages, memory.size() >> 1)) < 0) memory.grow(pages)
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
