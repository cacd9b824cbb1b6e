import { EditorView } from '@codemirror/view'

/**
 * Inserts typed text without an edit of the page: Chromium would keep the color of replaced text, and of the placeholder, with an
 * inline style, which the policy of the page refuses and reports.
 */
export const insertTyped = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const [range] = event.getTargetRanges()
    if (event.inputType !== 'insertText' || event.data === null || view.composing || range === undefined) return false
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    if (from > to) return false
    event.preventDefault()
    const insert = view.state.toText(event.data)
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})
