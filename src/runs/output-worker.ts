import { answerTasks } from '../base/answer-tasks.ts'
import { doOutputTask } from './output-tasks.ts'

answerTasks(doOutputTask)
