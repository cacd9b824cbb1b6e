import { AsyncLocalStorage } from 'node:async_hooks'

const callers = new AsyncLocalStorage<string>()

/** Runs work on behalf of a caller: callers share the worker threads fairly. */
export const workFor = <Result>(caller: string, work: () => Result): Result => callers.run(caller, work)

/** The caller of the current work; undefined for work of the process itself. */
export const currentCaller = (): string | undefined => callers.getStore()
