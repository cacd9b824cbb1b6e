/** A JSON Schema, as data. */
export type JsonSchema = { readonly [key: string]: unknown }
