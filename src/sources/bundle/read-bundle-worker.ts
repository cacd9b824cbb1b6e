import { answerTasks } from '../../base/worker-thread.ts'
import { doBundleTask } from './read-bundle-in-worker.ts'

answerTasks(doBundleTask)
