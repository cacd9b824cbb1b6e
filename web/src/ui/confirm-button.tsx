import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './error-notice.tsx'

interface ConfirmButtonProps {
  readonly label: string
  readonly icon?: ReactNode
  readonly tone?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly size?: 'sm' | 'md'
  /** The question, with the name of what is changed. */
  readonly title: ReactNode
  /** What will happen. */
  readonly children: ReactNode
  readonly onConfirm: () => Promise<unknown>
}

/** A button whose action is confirmed in a dialog, which stays open with the error if the action fails. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, icon, tone = 'danger', size = 'sm', title, children, onConfirm } = props
  const [isOpen, setOpen] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const open = (next: boolean) => {
    setError(undefined)
    setOpen(next)
  }
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      setOpen(false)
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button tone={tone} size={size} icon={icon} onClick={() => open(true)}>
        {label}
      </Button>
      <Dialog
        title={title}
        isOpen={isOpen}
        onClose={() => open(false)}
        actions={
          <>
            <Button onClick={() => open(false)}>Keep as it is</Button>
            <Button tone={tone === 'quiet' ? 'danger' : tone} isBusy={isBusy} onClick={() => void confirm()}>
              {label}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3 text-sm">
          <div>{children}</div>
          {error !== undefined && <ErrorNotice error={error} />}
        </div>
      </Dialog>
    </>
  )
}
