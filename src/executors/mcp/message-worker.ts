import { answerTasks } from '../../base/worker-pool.ts'
import { doMessageTask } from './message-tasks.ts'

answerTasks(doMessageTask)
