import type { Job } from '../../contract/executor.ts'

/** The levels that a process can be run at, the best first. */
export type Level = 'isolated' | 'confined' | 'limited'

/** The level that a job asks for: a workspace that was not granted the host runs isolated, whatever else there is. */
export const levelOf = ({ grants }: Job, asked: Level | undefined): Level | undefined =>
  grants === undefined || grants.includes('host') ? asked : 'isolated'
