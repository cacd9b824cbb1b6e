/** The value that an option takes, as its help writes it. */
export interface HelpValue {
  /** Its name in the help: `FILE`, `n`, `user:password`; empty where it has no name. */
  readonly name: string
  /** The same with its brackets: `[+]NUM`. */
  readonly written: string
  /** The option may stand without it. */
  readonly optional: boolean
  /** It must be joined to its option: `--color=auto`. */
  readonly inline: boolean
  readonly choices: readonly string[]
  /** The choices were listed explicitly. */
  readonly sureChoices: boolean
  /** How many words follow one flag; `many` for any number. */
  readonly words: number | 'many'
  /** The help shows a value in place of a name: `--chunk-size=500:`. */
  readonly literal?: string | undefined
}

/** One option of a program. */
export interface HelpOption {
  /** Every spelling, in the order of the help. */
  readonly flags: readonly string[]
  readonly value?: HelpValue | undefined
  readonly description: string
  readonly default?: string | undefined
  readonly required: boolean
  readonly repeatable: boolean
  /** There is a `--no-` spelling too. */
  readonly negatable: boolean
  /** The usage shows the `--no-` spelling alone: the option is on unless turned off. */
  readonly shownNegated: boolean
  /** It stands under a heading for options that all commands share. */
  readonly shared: boolean
  /** Only the usage line names it. */
  readonly fromUsage: boolean
}

/** One word that a program takes without a flag. */
export interface HelpPositional {
  readonly name: string
  readonly required: boolean
  readonly repeat: boolean
  readonly choices: readonly string[]
  readonly description: string
  readonly default?: string | undefined
  /** The help has a list of arguments with this one in it; otherwise it was read off the usage line. */
  readonly listed: boolean
}

/** One command of a program, as the program's own list has it. */
export interface HelpSubcommand {
  readonly name: string
  readonly description: string
  /** The arguments after the name in the list: `UNIT...`. */
  readonly usage: string
}

/** The parsed content of a help text. */
export interface ParsedHelp {
  readonly summary: string
  /** Every usage line, on one line each. */
  readonly forms: readonly string[]
  readonly positionals: readonly HelpPositional[]
  readonly options: readonly HelpOption[]
  readonly subcommands: readonly HelpSubcommand[]
  /** The program does nothing without one of its subcommands. */
  readonly isGroup: boolean
  /** Where the usage shows `--`: before the first positional, or between positionals. */
  readonly dashes: 'first' | 'later' | undefined
}
