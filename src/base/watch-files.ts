import { type FSWatcher, watch as watchPath } from 'node:fs'
import { basename, dirname } from 'node:path'

// Editors write a file in several steps; the change is over when nothing happened for this long.
const settleMs = 150

/** Calls back after any of the files changed, until the signal is aborted. */
export function watchFiles(files: readonly string[], onChange: () => void, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined
  const wanted = new Map<string, Set<string>>()
  for (const file of files) wanted.set(dirname(file), (wanted.get(dirname(file)) ?? new Set()).add(basename(file)))
  // The folders are watched, not the files: an editor that replaces a file would leave us watching the old one.
  const watchers = Array.from(wanted, ([folder, names]): FSWatcher => {
    const watcher = watchPath(folder, { persistent: false }, (_, name) => {
      if (name !== null && !names.has(name)) return
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
