import { answerTasks } from '../../base/worker-thread.ts'
import { doMessageTask } from './message-tasks.ts'

answerTasks(doMessageTask)
