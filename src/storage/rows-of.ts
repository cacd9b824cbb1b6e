/** The rows of a raw statement; the two engines return them differently. */
export function rowsOf<Row>(result: unknown): readonly Row[] {
  return (Array.isArray(result) ? result : (result as { rows: Row[] }).rows) as readonly Row[]
}
