import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { showToast } from './toast.tsx'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

/** Copies a text; pages without TLS have no clipboard, and say so. */
export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      showToast('The browser does not allow copying. Select the text instead.', { isError: true })
    }
  }
  const icon = isCopied ? <Check className="size-3.5" aria-hidden /> : <Copy className="size-3.5" aria-hidden />
  return (
    <Button size="sm" tone="quiet" icon={icon} onClick={() => void copy()} onBlur={() => setCopied(false)}>
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
