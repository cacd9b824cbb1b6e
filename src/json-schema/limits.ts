/** How much one JSON Schema, and one value held against it, may ask of the machine. */
export const schemaLimits = {
  /** Levels of objects and lists in the schema. */
  depth: 64,
  subschemas: 2000,
  /** Entries of one allOf, anyOf, oneOf, prefixItems or list of items. */
  branches: 100,
  enumValues: 1000,
  /** As JSON. */
  bytes: 256 * 1024,
  patternLength: 2000,
  problems: 100,
  valueDepth: 128,
  /** Objects, lists and single values in a value. */
  valueNodes: 1_000_000,
  /** Values that defaults put in. */
  defaults: 10_000,
  /** Steps of one validation or one check of a schema, see WorkBudget; a second or two. */
  steps: 60_000_000,
  errors: 2000,
} as const

/** How much of that is done on the thread that asks; what takes more is done in a worker thread. */
export const limitsHere = {
  /** About 10 ms. */
  steps: 200_000,
  /** Bytes of a schema that is read at all. */
  bytes: 16 * 1024,
  /** Compiling takes about 0.2 ms for each. */
  subschemas: 40,
  valueNodes: 5000,
  /** Parts of the value times subschemas. */
  checks: 50_000,
} as const

/** What single actions cost. */
export const stepCosts = { ref: 100, visit: 4, subschema: 40 } as const
