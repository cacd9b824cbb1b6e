import { answerTasks } from '../../base/worker-thread.ts'
import { doToolTask } from './tool-tasks.ts'

answerTasks(doToolTask)
