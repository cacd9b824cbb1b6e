import { answerTasks } from '../base/worker-pool.ts'
import { doOutputTask } from './output-tasks.ts'

answerTasks(doOutputTask)
