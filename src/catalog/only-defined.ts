/** The object without its undefined fields, so that absent fields are really absent. */
export function onlyDefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T
}
