import * as z from 'zod'
import { type KeyShape, sameKeys } from '../documents/yaml-keys.ts'

/** The bounds on the values of one argument. */
export const ArgConstraint = z.strictObject({
  /** A regular expression (RE2) that the complete string must match. */
  pattern: z.string().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type ArgConstraint = z.infer<typeof ArgConstraint>

/** The rule of a policy for one tool. */
export const ToolRule = z.strictObject({
  description: z.string().optional(),
  args: z.record(z.string(), ArgConstraint).default({}),
  /** Whether each call needs approval. */
  requireApproval: z.boolean().optional(),
  /** The number of recorded inputs that must give the same output before a proposal can be accepted. */
  requireReplay: z.int().min(1).max(1000).optional(),
})
export type ToolRule = z.infer<typeof ToolRule>

/** The execution environment of commands: this host, or a new container of an image. */
export const ExecutorChoice = z.strictObject({
  type: z.enum(['local', 'docker']).default('local'),
  image: z.string().min(1).optional(),
  volumes: z.array(z.string()).default([]),
  workingDir: z.string().optional(),
  network: z.string().optional(),
})
export type ExecutorChoice = z.infer<typeof ExecutorChoice>

/** The tools that a caller may use, the bounds on their arguments, and the environment they run in. */
export const Policy = z.strictObject({
  executor: ExecutorChoice.prefault({}),
  default: z.enum(['disabled', 'enabled']).default('disabled'),
  tools: z.record(z.string(), ToolRule).default({}),
  /** The names of the keys it applies to; all callers where absent. */
  callers: z.array(z.string().min(1)).optional(),
})
export type Policy = z.infer<typeof Policy>

/** The keys of a policy file. */
export const policyKeys: KeyShape = {
  keys: sameKeys('executor default tools callers'),
  inside: {
    executor: {
      keys: { ...sameKeys('type image volumes network'), working_dir: 'workingDir', workingDir: 'workingDir' },
    },
    tools: {
      each: {
        keys: {
          ...sameKeys('description args requireApproval requireReplay'),
          require_approval: 'requireApproval',
          require_replay: 'requireReplay',
        },
        inside: { args: { each: { keys: sameKeys('pattern min max') } } },
      },
    },
  },
}
