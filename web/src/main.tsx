import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { TooldexError } from 'tooldex/client'
import { onSessionEnd } from './api/client.ts'
import { changeSession } from './api/session.ts'
import { Gate } from './app/gate.tsx'
import './app/nonce.ts'
import './styles.css'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // The client repeats what is safe to repeat; a refusal would be repeated in vain.
      retry: (count, error) => count < 1 && !(error instanceof TooldexError && !error.retryable),
      refetchOnWindowFocus: true,
    },
  },
})
onSessionEnd(() => changeSession(queries, { signedIn: false, ended: true }))

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no element #root.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Gate />
    </QueryClientProvider>
  </StrictMode>,
)
