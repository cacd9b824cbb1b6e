interface Paging {
  readonly pageSize: number
  readonly total: number
}

/** The numbers of the pages with the items from one index to another. */
export function pagesBetween([from, to]: readonly [number, number], { pageSize, total }: Paging): number[] {
  if (from >= total) return []
  const first = Math.floor(from / pageSize)
  const last = Math.floor(Math.min(to, total - 1) / pageSize)
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}
