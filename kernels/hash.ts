// How words are hashed, the same in every table (FNV-1a).
export const hashStart: u32 = 0x811c9dc5
const prime: u32 = 0x01000193

// @ts-ignore: decorator
@inline
export function hashNext(hash: u32, byte: u8): u32 {
  return (hash ^ byte) * prime
}
