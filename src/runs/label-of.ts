import type { RunnableTool } from '../contract/executor.ts'

/** The label of the workers that a tool is for; empty where any worker will do. */
export const labelOf = ({ executorConfig }: RunnableTool): string =>
  typeof executorConfig.worker === 'string' ? executorConfig.worker : ''
