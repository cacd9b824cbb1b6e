// One request to a service on this machine: bare undici, the http executor, and the runner that every call goes through.
import { Agent, request } from 'undici'
import { createHttpExecutor } from '../dist/executors/http/http-executor.js'
import { inTable, measureInTurn, runnerOf, startPeer, toolOf } from './executors.mjs'

const rounds = 3000
const expect = (found) => {
  if (found?.id !== 7) throw new Error(`answered ${JSON.stringify(found)}`)
}

export async function run() {
  const peer = await startPeer('floor-json.mjs')
  const url = `http://127.0.0.1:${peer.port}/items/7`
  const dispatcher = new Agent({ connections: 16, pipelining: 1 })
  const executor = createHttpExecutor()
  const runner = runnerOf(executor)
  const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const config = { method: 'GET', url: `http://127.0.0.1:${peer.port}/items/{id}`, allowPrivate: true }
  const tool = toolOf('http', config, schema)
  const rows = await measureInTurn(
    {
      'bare undici': async () => expect(await (await request(url, { dispatcher })).body.json()),
      'the http executor': async () =>
        expect((await executor.prepare({ tool, input: { id: 7 }, timeoutMs: 5000 }).run({})).output),
      'the runner of every call': async () => expect((await runner.run(tool, { id: 7 })).output),
    },
    { rounds },
  )
  peer.stop()
  await dispatcher.destroy()
  await runner.close(1000)
  return `Goal: at most 1.3 times bare undici, median. ${rounds} requests each, one after another, in turn.\n\n${inTable(rows)}`
}
