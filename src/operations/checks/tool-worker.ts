import { serveThreadTasks } from '../../base/worker-thread.ts'
import { doToolTask } from './tool-tasks.ts'

serveThreadTasks(doToolTask)
