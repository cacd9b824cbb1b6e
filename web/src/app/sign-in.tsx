import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changeSession, type SessionState, signIn } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Field } from '../ui/field.tsx'
import { Brand } from './brand.tsx'
import { ThemeButton } from './theme-button.tsx'

interface SignInProps {
  readonly session: SessionState | undefined
  /** The error of a link that did not sign in. */
  readonly error: unknown
}

/** Asks for a key; the server keeps it out of the page from then on. */
export function SignIn({ session, error }: SignInProps) {
  const queries = useQueryClient()
  const [key, setKey] = useState('')
  const exchange = useMutation({
    mutationFn: signIn,
    onSuccess: (started) => changeSession(queries, started),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    exchange.mutate(key.trim())
    setKey('')
  }
  const failure = exchange.error ?? error
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <Brand />
      <form
        onSubmit={submit}
        className="flex w-full max-w-sm flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-panel"
      >
        <div>
          <h1 className="text-lg font-semibold">Sign in</h1>
          <p className="mt-1 text-sm text-muted">
            {session?.ended === true
              ? 'The session has ended: its key was revoked, or it has expired.'
              : 'Use an API key. The browser keeps a sealed session, never the key.'}
          </p>
        </div>
        <Field
          label="API key"
          type="password"
          autoComplete="off"
          required
          placeholder="tdx_…"
          value={key}
          onChange={(event) => setKey(event.target.value)}
          hint="The first start of the server printed one, with a link that signs in."
        />
        {failure != null && <ErrorNotice error={failure} />}
        <Button type="submit" tone="primary" isBusy={exchange.isPending}>
          Sign in
        </Button>
      </form>
      <ThemeButton />
    </main>
  )
}
