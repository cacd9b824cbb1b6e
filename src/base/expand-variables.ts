/** The syntax of variables in a text: `$NAME`, `${NAME}` and `${NAME:-default}`, or the braced forms alone. */
type Style = 'shell' | 'braced'

const patterns: Record<Style, RegExp> = {
  shell: /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))/g,
  braced: /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
}

/** A text with its variables expanded; unset ones without a default stay as written and are listed in `missing`. */
export interface Expansion {
  readonly text: string
  readonly missing: readonly string[]
}

/** Expands environment variables in a text. An empty variable takes the default, as in a shell. */
export function expandVariables(text: string, env: Environment, style: Style = 'shell'): Expansion {
  const missing: string[] = []
  const expanded = text.replace(patterns[style], (written, braced?: string, fallback?: string, bare?: string) => {
    const name = braced ?? bare ?? ''
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined && (value !== '' || fallback === undefined)) return value
    if (fallback !== undefined) return fallback
    missing.push(name)
    return written
  })
  return { text: expanded, missing }
}

/** A leading `~` or `~/` replaced by the home folder. */
export function expandHome(text: string, env: Environment): string {
  if (text !== '~' && !text.startsWith('~/')) return text
  return env.HOME === undefined ? text : env.HOME + text.slice(1)
}

/** Environment variables in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>
