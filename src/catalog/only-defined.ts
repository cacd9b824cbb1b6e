/** The object without its undefined fields, so that data has a field or has it not. */
export function onlyDefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T
}
