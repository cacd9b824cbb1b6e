import { constants } from 'node:os'

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]))

/** The name of a signal by its number; null for what is none. */
export const signalOf = (number: number): NodeJS.Signals | null => names.get(number) ?? null
