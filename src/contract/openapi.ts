import * as z from 'zod'
import { SecretReference } from './secret.ts'

const Patterns = z.array(z.string().min(1).max(500)).max(100)

/** The choices for turning an OpenAPI document into tools; a document states its own under `x-tooldex`. */
export const OpenApiOptions = z.strictObject({
  namespace: z
    .string()
    .regex(/^[a-z0-9_]+(?:-[a-z0-9_]+)*$/, 'must contain only lower-case letters, digits, underscores and hyphens')
    .max(40)
    .optional()
    .describe('The namespace of the tools and the prefix of their names; derived from the title where absent.'),
  include: Patterns.optional().describe(
    'Only these operations: an operation id, "GET /users/*" or "tag:users"; * matches any characters.',
  ),
  exclude: Patterns.optional().describe('Not these operations; the same patterns.'),
  baseUrl: z.url().optional().describe('The URL of the service, instead of the servers of the document.'),
  auth: z
    .record(z.string(), SecretReference)
    .optional()
    .describe('The secrets of security schemes by name; "*" for all others.'),
  allowPrivate: z.boolean().optional().describe('Whether the service may be at a private address.'),
  activate: z.boolean().optional().describe('Whether new tools are active at once.'),
  outputSchemas: z
    .boolean()
    .optional()
    .describe('Whether responses are validated against the schemas of the document.'),
})
export type OpenApiOptions = z.infer<typeof OpenApiOptions>
