import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import { readSession } from '../api/session.ts'
import { router } from '../router.tsx'
import { SignIn } from './sign-in.tsx'

/** Shows the pages to a signed-in browser, and the way in to all others. */
export function Gate() {
  const queries = useQueryClient()
  useEffect(() => {
    // The link of the first start, opened in a tab that shows a page already, loads nothing.
    const readAgain = () => {
      if (location.hash.startsWith('#key=')) void queries.resetQueries()
    }
    window.addEventListener('hashchange', readAgain)
    return () => window.removeEventListener('hashchange', readAgain)
  }, [queries])
  const { data, error, isPending } = useQuery({
    queryKey: ['session'],
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false,
  })
  if (isPending) return null
  return data?.signedIn === true ? <RouterProvider router={router} /> : <SignIn session={data} error={error} />
}
