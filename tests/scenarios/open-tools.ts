import { onTestFinished, vi } from 'vitest'
import { composeProcess } from '../../src/app/compose.ts'
import type { RunPlan } from '../../src/index.ts'
import { createLocalClient } from '../../src/operations/registry-client/registry-client.ts'
import { handleMetaTool } from '../../src/surfaces/mcp/handle-call.ts'
import type { MetaToolName } from '../../src/surfaces/mcp/meta-tools.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'

/** An answer as a client gets it. */
export interface Answer {
  readonly text: string
  readonly data: Record<string, unknown>
  readonly isError: boolean
}

type Given = Readonly<Record<string, unknown>>

/** The tools of some YAML texts, put together as the program does it, with the real executor. */
export function openTools(yaml: string | readonly string[], policy?: string) {
  const folder = tempFolder()
  setEnv({ TOOLDEX_HOME: folder })
  const context = composeProcess({
    configs: [yaml].flat().map((text, index) => tempFile(`config-${index}.yaml`, text, folder)),
    policy: policy === undefined ? undefined : tempFile('policy.yaml', policy, folder),
    logLevel: 'ERROR',
  })
  const ask = async (name: MetaToolName, given: Given): Promise<Answer> => {
    const { content, structuredContent, isError } = await handleMetaTool(name, given, {
      client: createLocalClient(context),
    })
    const [first] = content
    const data = (structuredContent ?? {}) as Record<string, unknown>
    return { text: first?.type === 'text' ? first.text : '', data, isError: isError === true }
  }
  return {
    context,
    search: (given: Given) => ask('search_tools', given),
    describe: (...ids: readonly string[]) => ask('describe_tool', { ids }),
    call: (name: string, args: Given = {}) => ask('call_tool', { name, arguments: args }),
    /** `call_tool` with whatever a model may have written. */
    rawCall: (given: Given) => ask('call_tool', given),
    /** The words that a call would run. */
    async argv(name: string, args: Given = {}): Promise<readonly string[]> {
      const { data, text, isError } = await ask('call_tool', { name, arguments: args, dryRun: true })
      if (isError) throw new Error(text)
      return (data.plan as RunPlan & { kind: 'cli' }).argv
    },
  }
}

/** Sets variables of the environment for the length of a test. */
export function setEnv(values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}
