import { type Note, remark } from './draft.ts'

interface Caution {
  readonly flag: RegExp
  readonly text: RegExp
  readonly note: string
}

// Never matches: a caution that is known by its flag alone.
const never = /(?!)/

const cautions: readonly Caution[] = [
  {
    flag: /^--?(?:interactive|tty|edit|patch|prompt|ask-password|confirm\w*|terminal|pager)$/,
    text: /\binteractive(?:ly)?\b|\bopens? (?:an|the|your) editor|\bprompts? (?:for|before|the)\b|ask for confirmation/i,
    note: 'careful: interactive, and a tool has no terminal to answer at',
  },
  {
    flag: /^--?(?:watch|watch-only|follow|tail-follow|monitor)$/,
    text: never,
    note: 'careful: may never end by itself, so that only the timeout ends it',
  },
  {
    flag: /^--?(?:(?:\w+-)*(?:force|hard|mirror)|(?:\w+-)*(?:delete|prune|purge|remove|destroy|overwrite|wipe|unlink|erase)(?:-\w+)*)$/,
    text: /\bdangerous\b|\birreversibl|permanently|\bdestroys?\b/i,
    note: 'careful: can destroy something',
  },
  {
    flag: /^--?(?:insecure|no-verify|privileged|dangerously-.*|unsafe.*|skip-verif.*|no-check-.*|trust-.*|yes|assume-yes|auto-approve)$/,
    text: /\bwithout (?:verif|check|confirm|ask)|\bbypass/i,
    note: 'careful: turns a safeguard off',
  },
  {
    flag: /^--?(?:\w+-)*(?:exec|command|cmd|eval|script|receive-pack|upload-pack|to-command|use-compress-program)$/,
    text: never,
    note: 'careful: runs a command of its own',
  },
]

/** Risks to consider before offering an option to a model. */
export function findCautions(flags: readonly string[], description: string): readonly Note[] {
  const isPreventive = flags.some((flag) => /^--no-(?!verify|check)/.test(flag))
  const found = cautions.find(({ flag, text }) => flags.some((own) => flag.test(own)) || text.test(description))
  return found === undefined || isPreventive ? [] : [remark(found.note)]
}
