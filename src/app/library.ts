import type { openMethods, RegistryOptions } from './registry-methods.ts'

/** The registry of a database, as methods. */
export type OpenRegistry = Awaited<ReturnType<typeof openMethods>>
export type { RegistryOptions } from './registry-methods.ts'

/** Opens the registry in this process; its modules are loaded only here. */
export async function openRegistry(options: RegistryOptions = {}): Promise<OpenRegistry> {
  return (await import('./registry-methods.ts')).openMethods(options)
}
