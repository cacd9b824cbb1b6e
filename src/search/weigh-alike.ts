/**
 * The vote of each neighbor: the weights that best explain its similarity to a query, by ridge regression. Similar neighbors
 * share one vote, so that frequent queries do not outvote the others.
 *
 *   (matrix + noise x identity) weights = similarity, by Cholesky; negative weights are dropped.
 */
export function weighAlike(matrix: Float64Array, likeness: readonly number[], noise: number): readonly number[] {
  const size = likeness.length
  const lower = factorize(matrix, size, noise)
  const at = (row: number, column: number): number => lower[row * size + column] as number
  const weights = Float64Array.from(likeness)
  for (let row = 0; row < size; row++) {
    let rest = weights[row] as number
    for (let column = 0; column < row; column++) rest -= at(row, column) * (weights[column] as number)
    weights[row] = rest / at(row, row)
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = weights[row] as number
    for (let below = row + 1; below < size; below++) rest -= at(below, row) * (weights[below] as number)
    weights[row] = rest / at(row, row)
  }
  return Array.from(weights, (weight) => Math.max(weight, 0))
}

/** The lower triangle whose square is the matrix with noise added to its diagonal. */
function factorize(matrix: Float64Array, size: number, noise: number): Float64Array {
  const lower = new Float64Array(size * size)
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = (matrix[row * size + column] as number) + (row === column ? noise : 0)
      for (let before = 0; before < column; before++)
        rest -= (lower[row * size + before] as number) * (lower[column * size + before] as number)
      // Similarities clipped at zero are not quite a kernel; the minimum keeps the root real.
      lower[row * size + column] =
        row === column ? Math.sqrt(Math.max(rest, minPivot)) : rest / (lower[column * size + column] as number)
    }
  }
  return lower
}

const minPivot = 1e-3
