import { useEffect, useReducer } from 'react'
import { formatAge } from './format-time.ts'

const tickMs = 5000

/** A time by its distance from now; the exact time is in the tooltip. */
export function Time({ value }: { readonly value: string }) {
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = setInterval(tick, tickMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={value} title={new Date(value).toLocaleString()} className="whitespace-nowrap">
      {formatAge(value)}
    </time>
  )
}
