import { answerTasks } from '../../base/answer-tasks.ts'
import { doJsonTask } from './json-tasks.ts'

// Loads the validator and the pattern engine, so that no task spends its time on that.
doJsonTask({ kind: 'validate', schema: '{"pattern":"^a"}', value: '"a"', problemsOnly: true })
answerTasks(doJsonTask)
