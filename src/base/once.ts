/** Computes a value with its first use; a thrown error is not cached. */
export function once<Value>(compute: () => Value): () => Value {
  let result: { readonly value: Value } | undefined
  return () => {
    result ??= { value: compute() }
    return result.value
  }
}
