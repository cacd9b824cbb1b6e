import type { ArgDef } from '../../../contract/cli-config.ts'

/** A remark that the draft carries as a comment. */
export interface Note {
  /** The key it stands beside; without one it stands above. */
  readonly at?: 'type' | 'enum' | 'positional' | undefined
  readonly text: string
  /** A guess to review. */
  readonly unsure: boolean
}

/** An argument to be written. */
export interface DraftArg extends Partial<Pick<ArgDef, 'flag' | 'items' | 'enum'>> {
  readonly name: string
  readonly type: ArgDef['type']
  readonly description: string
  readonly required?: boolean
  readonly positional?: boolean
  readonly repeat?: boolean
  readonly notes: readonly Note[]
}

/** A tool to be written. */
export interface DraftTool {
  readonly name: string
  readonly description: string
  readonly command: string
  readonly endOfOptions?: boolean
  readonly args: readonly DraftArg[]
  readonly notes: readonly Note[]
}

/** A config to be written. */
export interface Draft {
  readonly name: string
  readonly description: string
  readonly command: string
  readonly tools: readonly DraftTool[]
  /** Remarks on the whole, for the head of the file. */
  readonly notes: readonly Note[]
}

/** A guess to be checked. */
export const unsure = (text: string, at?: Note['at']): Note => ({ text, unsure: true, at })

/** Something worth knowing. */
export const remark = (text: string, at?: Note['at']): Note => ({ text, unsure: false, at })
