import type { Job } from '../../contract/executor.ts'

/** The isolation levels of a process, the best first. */
export type Level = 'isolated' | 'confined' | 'limited'

/** The level of a job: a workspace without the grant `host` always runs isolated. */
export const levelOf = ({ grants }: Job, requested: Level | undefined): Level | undefined =>
  grants === undefined || grants.includes('host') ? requested : 'isolated'
