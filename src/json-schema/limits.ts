/** Limits of one JSON Schema and of one validated value. */
export const schemaLimits = {
  /** Levels of objects and arrays in the schema. */
  depth: 64,
  subschemas: 2000,
  /** Entries of one allOf, anyOf, oneOf, prefixItems or array of items. */
  branches: 100,
  enumValues: 1000,
  /** Size as JSON. */
  bytes: 256 * 1024,
  patternLength: 2000,
  problems: 100,
  valueDepth: 128,
  /** Objects, arrays and scalars in a value. */
  valueNodes: 1_000_000,
  /** Values inserted by defaults. */
  defaults: 10_000,
  /** Steps of one validation or one check of a schema, see WorkBudget; a second or two. */
  steps: 60_000_000,
  errors: 2000,
} as const

/** Limits on the main thread; larger work is done in a worker thread. */
export const limitsHere = {
  /** About 10 ms. */
  steps: 200_000,
  /** Size of the schema as JSON. */
  bytes: 16 * 1024,
  /** Compiling takes about 0.2 ms for each. */
  subschemas: 40,
  valueNodes: 5000,
  /** Values times subschemas. */
  checks: 50_000,
} as const

/** The steps of single actions. */
export const stepCosts = { ref: 100, visit: 4, subschema: 40 } as const
