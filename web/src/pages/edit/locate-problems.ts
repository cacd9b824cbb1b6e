import type { Problem } from 'tooldex/client'
import { locateInJson, segmentsOf } from '../../ui/locate-in-json.ts'
import type { ToolForm } from './tool-form.ts'

const jsonFields = ['inputSchema', 'executorConfig'] as const
const maxProblems = 200

/** The problems of one field, with the line of the text of the field where it can be found. */
export function locateProblems(
  problems: readonly Problem[],
  field: keyof ToolForm,
  form: ToolForm,
): readonly Problem[] {
  const own = problems.slice(0, maxProblems).filter(({ pointer }) => fieldOf(pointer) === field)
  const name = jsonFields.find((each) => each === field)
  return name === undefined || own.length === 0 ? own : locateInJson(form[name], own, 1)
}

/** The field that a pointer is in. */
export const fieldOf = (pointer: string | undefined): string => segmentsOf(pointer)[0] ?? ''
