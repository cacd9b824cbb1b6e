import type { RunnableTool } from '../contract/executor.ts'

/** The worker label of a tool; empty where any worker may run it. */
export const labelOf = ({ executorConfig }: RunnableTool): string =>
  typeof executorConfig.worker === 'string' ? executorConfig.worker : ''
