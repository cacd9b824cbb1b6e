import { useQuery } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { readSession } from '../api/session.ts'
import { router } from '../router.tsx'
import { SignIn } from './sign-in.tsx'

/** Shows the pages to a signed-in browser, and the way in to all others. */
export function Gate() {
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
