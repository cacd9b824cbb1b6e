/** The configs that the operator runs without a sandbox: those of flags, and of TOOLDEX_LIMITED. */
export const limitedConfigs = (env: NodeJS.ProcessEnv, flags: readonly string[] = []): readonly string[] => [
  ...flags,
  ...(env.TOOLDEX_LIMITED ?? '').split(/[ ,]+/).filter(Boolean),
]
