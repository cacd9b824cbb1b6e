import * as z from 'zod'
import { SearchMode } from './search.ts'
import { Readiness } from './tool-state.ts'

/** The maximum length of the description in search results. */
export const maxShortDescription = 120

/** A tool in search results: enough to choose it, never its schemas. */
export const Summary = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  namespace: z.string().optional(),
  shortDescription: z.string().max(maxShortDescription),
  /** The same text under the name that other clients use. */
  summary: z.string().max(maxShortDescription),
  category: z.string().optional(),
  inputModes: z.array(z.string()),
  outputModes: z.array(z.string()),
  securitySummary: z.string().optional(),
  tags: z.array(z.string()),
  /** Present only for a tool that cannot be called now. */
  readiness: Readiness.optional(),
})
export type Summary = z.infer<typeof Summary>

/** The search document of a tool; read-only. */
export interface SearchDoc {
  readonly id: string
  /** Lower case: name, namespace, description, summary, category, modes and tags. */
  readonly docText: string
  readonly summary: Summary
}

/** A hit with its score and its ranking method. */
export const Result = z.object({ summary: Summary, score: z.number(), scoreType: SearchMode })
export type Result = z.infer<typeof Result>

/** One page of a search; no `nextCursor` on the last one. */
export const ResultPage = z.object({ results: z.array(Result), nextCursor: z.string().optional() })
export type ResultPage = z.infer<typeof ResultPage>

/** The input of search by meaning. */
export const SemanticDocument = z.object({
  id: z.string().min(1),
  namespace: z.string().optional(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  category: z.string().optional(),
  text: z.string(),
})
export type SemanticDocument = z.infer<typeof SemanticDocument>
