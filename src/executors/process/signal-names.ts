import { constants } from 'node:os'

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]))

/** The name of a signal; null for a number that is not a signal. */
export const signalOf = (number: number): NodeJS.Signals | null => names.get(number) ?? null
