// A process that starts and migrates, as a server does: prints the steps it took.
import { migrate, openDatabase } from '../../dist/storage/index.js'

const database = await openDatabase({ url: process.env.DATABASE_URL, home: process.env.TOOLDEX_HOME })
const steps = []
await migrate(database, (step) => steps.push(step))
await database.close()
process.stdout.write(JSON.stringify(steps))
