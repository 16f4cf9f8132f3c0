// The text of a policy with syntax colours, completion by the language's schema and problems at
// their line. A separate chunk, loaded with the first policy. It lives in a shadow root: there the
// editor's styles are sheets, which the page's CSP allows, and not inline style, which it forbids.

import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type JSX, useEffect, useRef } from 'react'
import type { PolicyDraft } from '../../../../src/contract/contract.ts'
import { completeFrom, type Schema } from './complete.ts'

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--allow)' },
  { tag: [tags.number, tags.bool, tags.keyword], color: 'var(--limited)' },
])

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '12.5px', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    color: 'var(--text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--selected)',
    color: 'var(--text)',
  },
})

export function Editor({
  text,
  problems,
  schema,
  names,
  readOnly,
  line,
  onChange,
}: {
  text: string
  problems: PolicyDraft['problems']
  schema: Schema | undefined
  /** Known tools, for completion. */
  names: readonly string[]
  readOnly: boolean
  /** The line to show, if requested. */
  line: number | undefined
  onChange: (text: string) => void
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef({ onChange, schema, names })
  latest.current = { onChange, schema, names }

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; the text is brought in below
  useEffect(() => {
    const host = place.current
    if (host === null) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const parent = document.createElement('div')
    parent.style.height = '100%'
    root.replaceChildren(parent)
    view.current = new EditorView({ state: createState(text), parent, root })
    return () => {
      view.current?.destroy()
      view.current = undefined
    }
  }, [readOnly])

  function createState(doc: string): EditorState {
    const extensions: Extension[] = [
      lineNumbers(),
      history(),
      highlightActiveLine(),
      lintGutter(),
      yaml(),
      syntaxHighlighting(colours),
      look,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'Policy text', tabindex: '0' }),
      EditorState.readOnly.of(readOnly),
      autocompletion({
        override: [(context) => completeFrom(context, latest.current.schema, latest.current.names)],
      }),
      // Tab moves to the next element of the page: keyboard users must be able to leave.
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((one) => one.isUserEvent('board')))
          latest.current.onChange(update.state.doc.toString())
      }),
    ]
    return EditorState.create({ doc, extensions })
  }

  // A move on the board changes only the range that differs: cursor and undo history stay.
  useEffect(() => {
    const now = view.current?.state.doc.toString()
    if (view.current === undefined || now === undefined || now === text) return
    let from = 0
    while (from < now.length && from < text.length && now[from] === text[from]) from++
    let end = 0
    const most = Math.min(now.length, text.length) - from
    while (end < most && now[now.length - 1 - end] === text[text.length - 1 - end]) end++
    view.current.dispatch({
      changes: { from, to: now.length - end, insert: text.slice(from, text.length - end) },
      selection: { anchor: from },
      effects: EditorView.scrollIntoView(from, { y: 'center' }),
      userEvent: 'board',
    })
  }, [text])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined) return
    const { doc } = editor.state
    const diagnostics = problems.flatMap((problem): Diagnostic[] => {
      if (problem.line > doc.lines) return []
      const at = doc.line(problem.line)
      const from = Math.min(at.to, at.from + problem.column - 1)
      const message = `${problem.message}: ${problem.help}`
      return [{ from, to: Math.max(from, at.to), severity: problem.severity, message }]
    })
    editor.dispatch(setDiagnostics(editor.state, diagnostics))
  }, [problems])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined || line === undefined || line > editor.state.doc.lines) return
    const { from } = editor.state.doc.line(line)
    const effects = EditorView.scrollIntoView(from, { y: 'center' })
    editor.dispatch({ selection: { anchor: from }, effects })
    editor.focus()
  }, [line])

  return <div ref={place} className="card editor" />
}
