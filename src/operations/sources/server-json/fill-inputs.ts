import { TooldexError } from '../../../base/errors.ts'
import { didYouMean } from '../../../base/suggest.ts'
import type { ServerJsonInput } from '../../../contract/server-json.ts'

/** The values that the user provides: of arguments and variables by name, of environment variables, and of headers. */
export interface ProvidedValues {
  readonly set: ReadonlyMap<string, readonly string[]>
  readonly env: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
}

/** A value that is missing, as the option that provides it. */
interface Missing {
  readonly option: string
  readonly input: ServerJsonInput
}

/** A filled value, and whether a secret is part of it. */
export interface Filled {
  readonly text: string
  readonly isSecret: boolean
}

/** Fills the inputs of a `server.json` with the values of the user, and collects what is missing. */
export class InputFiller {
  readonly #values: ProvidedValues
  readonly #missing: Missing[] = []
  readonly #known = new Set<string>()

  constructor(values: ProvidedValues) {
    this.#values = values
  }

  /** The values of an argument or variable; several where it may be repeated. */
  fill(input: ServerJsonInput, name: string | undefined): readonly Filled[] {
    if (input.value !== undefined) return [this.#fillTemplate(input, input.value)]
    if (name !== undefined) this.#known.add(name)
    const provided = name === undefined ? undefined : this.#values.set.get(name)
    return this.#chosen(input, provided, `--set ${name ?? 'NAME'}=VALUE`)
  }

  /** The value of an environment variable or header. */
  fillNamed(kind: 'env' | 'headers', name: string, input: ServerJsonInput): Filled | undefined {
    const key = Object.keys(this.#values[kind]).find((each) =>
      kind === 'env' ? each === name : each.toLowerCase() === name.toLowerCase(),
    )
    const provided = key === undefined ? undefined : this.#values[kind][key]
    if (provided === undefined && input.value !== undefined) return this.#fillTemplate(input, input.value)
    const option = kind === 'env' ? `--env ${name}=VALUE` : `--header '${name}: VALUE'`
    return this.#chosen(input, provided === undefined ? undefined : [provided], option)[0]
  }

  /** A text with `{name}` replaced by variables; unknown names stay as they are. */
  fillText(text: string, variables: NonNullable<ServerJsonInput['variables']> = {}): Filled {
    return this.#fillTemplate({ isRequired: true, isSecret: false, variables }, text)
  }

  /** Throws where a required value is missing, or a provided one has no use. */
  finish(file: string): void {
    const [first] = this.#missing
    if (first !== undefined)
      throw new TooldexError('USAGE', `${file} needs ${this.#missing.length === 1 ? 'a value' : 'values'}:`, {
        problems: this.#missing.map(({ option, input }) => ({
          severity: 'error' as const,
          message: `${option}${describe(input)}`,
        })),
        hint: `Add ${first.option}.`,
      })
    const unknown = [...this.#values.set.keys()].find((name) => !this.#known.has(name))
    if (unknown === undefined) return
    throw new TooldexError('USAGE', `${file} has no value '${unknown}'.${didYouMean(unknown, this.#known)}`, {
      hint: this.#known.size === 0 ? 'Omit --set.' : `It has: ${[...this.#known].join(', ')}.`,
    })
  }

  #fillTemplate({ isSecret, variables = {} }: ServerJsonInput, text: string): Filled {
    let hasSecret = isSecret
    const filled = text.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (variable === undefined) return whole
      const [value] = this.fill(variable, name)
      hasSecret ||= variable.isSecret
      return value?.text ?? ''
    })
    return { text: filled, isSecret: hasSecret }
  }

  #chosen(input: ServerJsonInput, provided: readonly string[] | undefined, option: string): readonly Filled[] {
    const values = provided ?? (input.default === undefined ? [] : [input.default])
    if (values.length === 0 && input.isRequired && !this.#missing.some((each) => each.option === option))
      this.#missing.push({ option, input })
    const wrong = values.find((value) => input.choices !== undefined && !input.choices.includes(value))
    if (wrong !== undefined)
      throw new TooldexError('USAGE', `${option.replace(/[=:] ?VALUE.*$/, '')} is '${wrong}'.`, {
        hint: `Use one of: ${input.choices?.join(', ')}.`,
      })
    return values.map((text) => ({ text, isSecret: input.isSecret }))
  }
}

function describe({ description, choices, isSecret }: ServerJsonInput): string {
  const parts = [description, choices && `one of ${choices.join(', ')}`, isSecret ? 'a secret' : undefined]
  const shown = parts.filter((part) => part !== undefined)
  return shown.length === 0 ? '' : ` (${shown.join('; ')})`
}
