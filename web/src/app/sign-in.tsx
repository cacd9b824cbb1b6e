import { useMutation, useQueryClient } from '@tanstack/react-query'
import { LogIn } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { changeSession, type SessionState, signIn, takeFailedSignIn } from '../api/session.ts'
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

const failures = {
  denied: 'The sign-in was canceled or denied there.',
  failed: 'The sign-in did not succeed. Try again; the log of the server has the reason.',
} as const

/** Asks for a key, or leads to the authorization server; the server keeps both out of the page from then on. */
export function SignIn({ session, error }: SignInProps) {
  const queries = useQueryClient()
  const [key, setKey] = useState('')
  const [failed] = useState(takeFailedSignIn)
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
              ? 'The session has ended: its key was revoked, or it has expired. Drafts of the tool editor are kept, and you return to the same page.'
              : 'The browser keeps a sealed session, never the key.'}
          </p>
        </div>
        {failed !== undefined && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            {failures[failed]}
          </p>
        )}
        {session?.signInWith !== undefined && <ProviderButton host={session.signInWith} />}
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
        <Button
          type="submit"
          tone={session?.signInWith === undefined ? 'primary' : 'plain'}
          isBusy={exchange.isPending}
        >
          Sign in
        </Button>
      </form>
      <ThemeButton />
    </main>
  )
}

/** Leads to the authorization server, which returns to this page. */
function ProviderButton({ host }: { readonly host: string }) {
  const to = encodeURIComponent(location.pathname + location.search)
  return (
    <>
      <Button
        tone="primary"
        icon={<LogIn className="size-4" aria-hidden />}
        onClick={() => location.assign(`/session/authorize?to=${to}`)}
      >
        <span className="truncate">Sign in with {host}</span>
      </Button>
      <p className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
    </>
  )
}
