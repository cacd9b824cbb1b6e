import { serveThreadTasks } from '../../base/worker-thread.ts'
import { doMessageTask } from './message-tasks.ts'

serveThreadTasks(doMessageTask)
