import { useState } from 'react'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toCommand, toCurl, toTypeScript } from './call-texts.ts'

interface CopyCallProps {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The same call for a shell and for a program. */
export function CopyCall({ tool, input }: CopyCallProps) {
  const [chosen, choose] = useState('curl')
  const call = { origin: location.origin, tool, input }
  const texts = [
    ['curl', 'curl', toCurl(call)],
    ['cli', 'CLI', toCommand(call)],
    ['ts', 'TypeScript', toTypeScript(call)],
  ] as const
  return (
    <details className="mt-4 border-t border-line pt-3">
      <summary className="text-sm font-medium">Copy as curl, CLI or TypeScript</summary>
      <div className="mt-2">
        <Tabs
          label="Copy as"
          value={chosen}
          onChange={choose}
          tabs={texts.map(([id, label, text]) => ({ id, label, content: <CodeBlock label={label}>{text}</CodeBlock> }))}
        />
      </div>
    </details>
  )
}
