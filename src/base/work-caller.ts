import { AsyncLocalStorage } from 'node:async_hooks'

const callers = new AsyncLocalStorage<string>()

/** Does work in the name of a caller: the worker threads are shared out between callers. */
export const workFor = <Result>(caller: string, work: () => Result): Result => callers.run(caller, work)

/** The caller whose work is being done; undefined for work of the process itself. */
export const currentCaller = (): string | undefined => callers.getStore()
