import { EditorView } from '@codemirror/view'

/**
 * Replaces selected text by typed text without an edit of the page: Chromium would keep the color of the replaced text with an
 * inline style, which the policy of the page refuses and reports.
 */
export const insertTyped = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { composing, state } = view
    if (inputType !== 'insertText' || data === null || composing || state.readOnly || state.selection.main.empty)
      return false
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})
