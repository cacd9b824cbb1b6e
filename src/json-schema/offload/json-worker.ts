import { serveThreadTasks } from '../../base/worker-thread.ts'
import { doJsonTask } from './json-tasks.ts'

// Loads the validator and the pattern engine before the first task, so that it is not part of its deadline.
doJsonTask({ kind: 'validate', schema: '{"pattern":"^a"}', value: '"a"', problemsOnly: true })
serveThreadTasks(doJsonTask)
