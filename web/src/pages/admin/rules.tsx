import type { OperationInput, OperationOutput } from 'tooldex/client'
import { api } from '../../api/client.ts'
import { SafeText } from '../../ui/safe-text.tsx'
import { type DefinitionKind, Definitions } from './definitions.tsx'
import { Simulation } from './simulation.tsx'

type Policy = OperationOutput<'policies.list'>['items'][number]
type Toolset = OperationOutput<'toolsets.list'>['items'][number]
type Limit = OperationOutput<'limits.list'>['items'][number]

const policies: DefinitionKind<Policy> = {
  kind: 'policy',
  title: 'Policies',
  empty:
    'Without a policy, every key may use all tools that its scopes allow. Create one to hide tools, bound arguments or ask for approval.',
  afterRemoval: 'Its rules no longer apply: the callers it covered may use what it hid, bounded or sent to approval.',
  columns: [
    {
      title: 'Other tools',
      isExtra: true,
      cell: ({ policy }) => (policy.default === 'enabled' ? 'allowed' : 'hidden'),
    },
    { title: 'Rules', align: 'right', cell: ({ policy }) => Object.keys(policy.tools).length },
    {
      title: 'Callers',
      isExtra: true,
      cell: ({ policy }) => <SafeText max={200}>{policy.callers?.join(', ') ?? 'all'}</SafeText>,
    },
  ],
  bodyOf: ({ policy }) => policy,
  example: { name: 'careful', body: { default: 'enabled', tools: { send_mail: { requireApproval: true } } } },
  list: () => api.policies.list(),
  put: (name, body) => api.policies.put({ ...body, name } as OperationInput<'policies.put'>),
  remove: (name) => api.policies.delete({ name }),
  preview: (name, body) => <Simulation name={name} policy={body} />,
}

const toolsets: DefinitionKind<Toolset> = {
  kind: 'toolset',
  title: 'Toolsets',
  empty: 'A toolset is a part of the catalog with an MCP endpoint of its own, /mcp/NAME, for one team or one agent.',
  afterRemoval: 'Its endpoint ends, and keys that are restricted to it see no tools.',
  columns: [
    { title: 'Endpoint', className: 'font-mono text-xs', cell: ({ name }) => `/mcp/${name}` },
    { title: 'Mode', isExtra: true, cell: ({ mode }) => mode },
    {
      title: 'Description',
      isExtra: true,
      cell: ({ description }) => <SafeText max={200}>{description ?? ''}</SafeText>,
    },
  ],
  bodyOf: ({ name: _name, ...body }) => body,
  example: {
    name: 'support',
    body: { description: 'Tools for support.', filter: { tags: ['support'] }, mode: 'progressive' },
  },
  list: () => api.toolsets.list(),
  put: (name, body) => api.toolsets.put({ ...body, name } as OperationInput<'toolsets.put'>),
  remove: (name) => api.toolsets.delete({ name }),
}

const words: Readonly<Record<string, string>> = {
  callsPerMinute: 'calls a minute',
  callsPerDay: 'calls a day',
  secondsPerDay: 'seconds a day',
  bytesPerDay: 'bytes a day',
  tokensPerDay: 'tokens a day',
}

/** The bounds of a limit with the highest present use of a subject. */
function usesOf(limit: Limit): string {
  const bounds = Object.entries(limit).filter((entry): entry is [string, number] => entry[0] in words)
  const used = (measure: string) => Math.max(0, ...limit.usage.map((use) => use.used[measure] ?? 0))
  return bounds
    .map(
      ([measure, bound]) => `${used(measure).toLocaleString('en')} of ${bound.toLocaleString('en')} ${words[measure]}`,
    )
    .join('; ')
}

const limits: DefinitionKind<Limit> = {
  kind: 'limit',
  title: 'Limits',
  empty: 'A limit bounds calls, time, bytes or tokens of a caller, a tool or a toolset, across all replicas.',
  afterRemoval: 'Its counters are deleted with it, and the calls it bounded are no longer limited.',
  columns: [
    {
      title: 'Applies to',
      isExtra: true,
      cell: ({ caller, tool, toolset }) => (
        <SafeText max={200}>
          {[caller, tool, toolset].filter((each) => each !== undefined).join(' and ') || 'everything'}
        </SafeText>
      ),
    },
    { title: 'Used', cell: usesOf },
  ],
  bodyOf: ({ name: _name, usage: _usage, ...body }) => body,
  example: { name: 'ci per day', body: { caller: 'ci', callsPerMinute: 60, callsPerDay: 5000 } },
  list: () => api.limits.list(),
  put: (name, body) => api.limits.put({ ...body, name } as OperationInput<'limits.put'>),
  remove: (name) => api.limits.delete({ name }),
}

/** Policies, with their simulation over recorded calls. */
export const Policies = () => <Definitions of={policies} />

/** Toolsets. */
export const Toolsets = () => <Definitions of={toolsets} />

/** Limits, with their present use. */
export const Limits = () => <Definitions of={limits} />
