import { answerTasks } from '../base/worker-thread.ts'
import { doOutputTask } from './output-tasks.ts'

answerTasks(doOutputTask)
