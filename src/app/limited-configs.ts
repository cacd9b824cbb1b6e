/** The configs that run without a sandbox, from flags and TOOLDEX_LIMITED. */
export const limitedConfigs = (env: NodeJS.ProcessEnv, flags: readonly string[] = []): readonly string[] => [
  ...flags,
  ...(env.TOOLDEX_LIMITED ?? '').split(/[ ,]+/).filter(Boolean),
]
