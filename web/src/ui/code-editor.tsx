import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { python } from '@codemirror/lang-python'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { getNonce } from 'get-nonce'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import type { Problem } from 'tooldex/client'
import { toDiagnostics, toRange } from './code-diagnostics.ts'
import { editorColors, editorTheme } from './code-theme.ts'
import { insertTyped } from './insert-typed.ts'

/** The languages of the editor. */
export type CodeLanguage = 'python' | 'json' | 'yaml' | 'text'

/** What a list of problems does with the editor. */
export interface EditorHandle {
  /** Moves to the line of a problem. */
  select(problem: Problem): void
}

interface CodeEditorProps {
  readonly label: string
  readonly language: CodeLanguage
  readonly value: string
  readonly height: number
  readonly problems: readonly Problem[]
  readonly placeholder: string
  /** The id of the list of problems. */
  readonly describedBy?: string
  readonly handle: Ref<EditorHandle>
  readonly onChange: (text: string) => void
}

const languages: Readonly<Record<CodeLanguage, () => Extension>> = {
  python: () => [python(), indentUnit.of('    ')],
  json: () => json(),
  yaml: () => yaml(),
  text: () => [],
}
// Bidi controls that the default set lacks.
const moreInvisible = /[\u202a-\u202c\u2068]/g

/** The editor of code, a chunk of its own. Tab moves the focus on, so that no keyboard is trapped; Ctrl-] indents. */
export function CodeEditor(props: CodeEditorProps) {
  const { label, language, value, height, problems, describedBy, handle } = props
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef(props)
  latest.current = props
  const parts = useRef({ language: new Compartment(), attributes: new Compartment() })

  useEffect(() => {
    const { language, attributes } = parts.current
    const { value, placeholder: text, onChange: _onChange, ...initial } = latest.current
    const created = new EditorView({
      ...(parent.current === null ? {} : { parent: parent.current }),
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(getNonce() ?? ''),
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          highlightSpecialChars({ addSpecialChars: moreInvisible }),
          lintGutter(),
          placeholder(text),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          syntaxHighlighting(editorColors),
          editorTheme,
          insertTyped,
          language.of(languages[initial.language]()),
          attributes.of([]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = created
    return () => {
      view.current = null
      created.destroy()
    }
  }, [])

  useEffect(
    () => view.current?.dispatch({ effects: parts.current.language.reconfigure(languages[language]()) }),
    [language],
  )
  useEffect(() => {
    const isInvalid = problems.some(({ severity }) => severity === 'error')
    const attributes = EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      'aria-invalid': String(isInvalid),
      ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
    })
    view.current?.dispatch({ effects: parts.current.attributes.reconfigure(attributes) })
  }, [label, describedBy, problems])
  useEffect(() => {
    const current = view.current
    if (current === null || current.state.doc.toString() === value) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const current = view.current
    if (current !== null) current.dispatch(setDiagnostics(current.state, toDiagnostics(current.state.doc, problems)))
  }, [problems])
  useImperativeHandle(handle, () => ({
    select(problem) {
      const current = view.current
      if (current === null) return
      const { from, to } = toRange(current.state.doc, problem)
      current.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true })
      current.focus()
    },
  }))
  return (
    <div
      ref={parent}
      style={{ height }}
      className="min-h-20 resize-y overflow-hidden rounded-md border border-line-strong/60 bg-sunken focus-within:border-accent focus-within:outline-1 focus-within:outline-accent"
    />
  )
}
