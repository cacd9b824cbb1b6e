import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { TooldexError } from './errors.ts'

/** More files than most imports here open at once. */
const defaultFiles = 28

/**
 * Loads a module with its first use, and caches it once it is loaded.
 * Node caches a failed import for the life of the process: while files cannot be opened, none is tried.
 */
export function lazyModule<Module>(load: () => Promise<Module>, files = defaultFiles): () => Promise<Module> {
  let loaded: Promise<Module> | undefined
  return () => {
    loaded ??= loadWithFiles(load, files).catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}

async function loadWithFiles<Module>(load: () => Promise<Module>, files: number): Promise<Module> {
  requireFiles(files)
  return load()
}

function requireFiles(files: number): void {
  const opened: number[] = []
  try {
    while (opened.length < files) opened.push(openSync(devNull, 'r'))
  } catch (cause) {
    const message = 'A part of the program could not be loaded: too many files are open.'
    throw new TooldexError('RESOURCES_EXHAUSTED', message, { cause })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** Computes a value with its first use; a thrown error is not cached. */
export function lazyValue<Value>(compute: () => Value): () => Value {
  let result: { readonly value: Value } | undefined
  return () => {
    result ??= { value: compute() }
    return result.value
  }
}
