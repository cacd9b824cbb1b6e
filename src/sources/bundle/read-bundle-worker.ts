import { serveThreadTasks } from '../../base/worker-thread.ts'
import { doBundleTask } from './read-bundle-in-worker.ts'

serveThreadTasks(doBundleTask)
