/** Namespaces that no source may have. */
export const builtinNamespaces: readonly string[] = ['tooldex', 'registry', 'code', 'cli', 'mcp']

/** The built-in tool of code mode; it runs like any other tool. */
export const runCodeName = 'tooldex:run_code'

/** Whether a name is reserved for built-in tools, so that it is not looked up elsewhere. */
export const isReserved = (name: string): boolean => name.startsWith('tooldex:')

/** Whether a name is that of an operation that is called like a tool. */
export const isBuiltin = (name: string): boolean => isReserved(name) && name !== runCodeName
