import { existsSync, type FSWatcher, watch as watchPath } from 'node:fs'
import { basename, dirname } from 'node:path'

// Editors write a file in several steps; a change is complete after this time without events.
const settleMs = 150

/** Calls `onChange` after a change of any of the files, until the signal is aborted. */
export function watchFiles(files: readonly string[], onChange: () => void, signal: AbortSignal): void {
  const wanted = new Map<string, Set<string>>()
  for (const file of files) wanted.set(dirname(file), (wanted.get(dirname(file)) ?? new Set()).add(basename(file)))
  // The folders are watched, not the files: after an editor replaces a file, a watcher of the file would watch the old one.
  watchAll(
    Array.from(wanted, ([folder, names]) => ({ folder, accept: (name) => names.has(name) })),
    onChange,
    signal,
  )
}

/** Calls `onChange` after a file with an accepted name is added, changed or removed, until the signal is aborted. */
export function watchFolder(
  folder: string,
  accept: (name: string) => boolean,
  onChange: () => void,
  signal: AbortSignal,
): void {
  watchAll([{ folder, accept }], onChange, signal)
}

interface Watched {
  readonly folder: string
  readonly accept: (name: string) => boolean
}

function watchAll(watched: readonly Watched[], onChange: () => void, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined
  // A missing folder cannot be watched; its files are still read once.
  const present = watched.filter(({ folder }) => existsSync(folder))
  const watchers = present.map(({ folder, accept }): FSWatcher => {
    const watcher = watchPath(folder, { persistent: false }, (_, name) => {
      if (name !== null && !accept(name)) return
      clearTimeout(timer)
      timer = setTimeout(onChange, settleMs)
    })
    watcher.on('error', () => watcher.close())
    return watcher
  })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  })
}
