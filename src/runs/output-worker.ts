import { serveThreadTasks } from '../base/worker-thread.ts'
import { doOutputTask } from './output-tasks.ts'

serveThreadTasks(doOutputTask)
