import { answerTasks } from '../base/answer-tasks.ts'
import { readResult } from './read-result.ts'
import type { ReadTask } from './read-result-aside.ts'

answerTasks(({ content, query }: ReadTask) => readResult(content, query))
