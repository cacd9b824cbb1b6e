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
  /** How often one validation may follow a `$ref`. */
  steps: 1_000_000,
} as const
