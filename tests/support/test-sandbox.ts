const probed = 'TOOLDEX_TEST_SANDBOX'

/** Remembers for all test processes that this machine has no sandbox. */
export const setNoSandbox = (): void => {
  process.env[probed] = 'none'
}

/** Variables of a test server: none, because it runs as shipped. On a machine without a sandbox, all tools have limits only. */
export function sandboxVariables(limitedBecause?: string): Readonly<Record<string, string>> {
  const limited = { TOOLDEX_LIMITED: '*', TOOLDEX_SHIELD: 'off' }
  if (process.env[probed] === 'none') return { ...limited, TOOLDEX_ALLOW_LIMITED: 'on' }
  return limitedBecause === undefined ? {} : limited
}
