import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The marks of problems; the images of the library are data URLs, which the policy of the page refuses. */
function marksOf(severity: 'error' | 'warning', color: 'bad' | 'warn') {
  return {
    [`.cm-lint-marker-${severity}`]: {
      content: 'normal',
      width: '8px',
      height: '8px',
      margin: '2px 0 0 3px',
      borderRadius: color === 'bad' ? '50%' : '2px',
      backgroundColor: `var(--c-${color})`,
    },
    [`.cm-lintRange-${severity}`]: {
      backgroundImage: 'none',
      textDecoration: `underline wavy var(--c-${color})`,
      textDecorationSkipInk: 'none',
    },
    [`.cm-diagnostic-${severity}`]: { borderLeft: `4px solid var(--c-${color})` },
  }
}

/** The editor in the colors of the page, which change with its theme. */
export const editorTheme = EditorView.theme({
  '&': { height: '100%', color: 'var(--c-text)', backgroundColor: 'transparent', fontSize: '0.75rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--default-mono-font-family, ui-monospace, monospace)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--c-text)', padding: '4px 0' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--c-muted)', border: 'none' },
  '.cm-placeholder': { color: 'var(--c-faint)' },
  '.cm-specialChar': { color: 'var(--c-warn)', backgroundColor: 'var(--c-warn-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--c-accent-soft)' },
  ...marksOf('error', 'bad'),
  ...marksOf('warning', 'warn'),
  '.cm-tooltip': {
    backgroundColor: 'var(--c-raised)',
    color: 'var(--c-text)',
    border: '1px solid var(--c-line)',
    borderRadius: '6px',
    overflow: 'hidden',
  },
  '.cm-diagnostic': {
    fontFamily: 'var(--default-font-family, sans-serif)',
    fontSize: '0.8125rem',
    padding: '6px 10px',
  },
})

/** The colors of code. */
export const editorColors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--c-accent-strong)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--c-ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.self], color: 'var(--c-warn)' },
  {
    tag: [tags.propertyName, tags.definition(tags.variableName), tags.function(tags.variableName)],
    color: 'var(--c-info)',
  },
  { tag: tags.comment, color: 'var(--c-muted)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--c-bad)' },
])
