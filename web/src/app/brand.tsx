/** The mark and the name. */
export function Brand() {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-5" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <path
          d="M8 10.5h16M16 10.5V23"
          className="stroke-on-accent"
          strokeWidth="3.5"
          strokeLinecap="round"
          fill="none"
        />
      </svg>
      Tooldex
    </span>
  )
}
