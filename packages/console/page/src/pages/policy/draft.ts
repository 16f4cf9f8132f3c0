// The edited text and its meaning: every change, typed or chosen in the table, is sent to the gate,
// which parses it as it will be parsed; the last response wins. A text that was not saved stays while
// other pages are open.

import { useCallback, useEffect, useRef, useState } from 'react'
import type { PolicyDocumentView, PolicyDraft } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { complain } from '../../ui/toasts.tsx'

const PAUSE_MS = 250

/** What a menu of the table changes in the text. */
export type RuleMove =
  | { readonly tool: string; readonly to: string }
  | { readonly category: string; readonly to: string }

/** Texts that were not saved, by document, with the version they are based on. */
const unsaved = new Map<string, { readonly digest: string; readonly text: string }>()

/** A text that the policy page opens with, to be looked at and saved there. */
export function keepDraft({ name, digest }: PolicyDocumentView, text: string): void {
  unsaved.set(name, { digest, text })
}

window.addEventListener('beforeunload', (event) => {
  if (unsaved.size > 0) event.preventDefault()
})

function textOf({ name, text, digest }: PolicyDocumentView): string {
  const draft = unsaved.get(name)
  return draft?.digest === digest ? draft.text : text
}

/** A text that is being edited. */
export interface EditedDraft {
  readonly text: string
  /** What the text means; undefined until the gate has answered. */
  readonly meaning: PolicyDraft | undefined
  /** The text is not the saved one. */
  readonly changed: boolean
  readonly edit: (next: string) => void
  /** Resolves with false if the change cannot be done by a move. */
  readonly move: (one: RuleMove) => Promise<boolean>
}

export function useDraft(document: PolicyDocumentView): EditedDraft {
  const { name, text: saved, digest } = document
  const [text, setText] = useState(() => textOf(document))
  const [meaning, setMeaning] = useState<PolicyDraft>()
  const requests = useRef(0)
  const ask = useCallback(
    async (of: string, move?: RuleMove): Promise<PolicyDraft | undefined> => {
      const mine = ++requests.current
      const draft = await post<PolicyDraft>('/policy/draft', {
        name,
        text: of,
        ...(move && { move }),
      })
      if (mine !== requests.current) return undefined
      setMeaning((before) =>
        draft.board ? draft : { ...draft, ...(before?.board && { board: before.board }) },
      )
      return draft
    },
    [name],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the digest identifies the text
  useEffect(() => {
    const current = textOf(document)
    setText(current)
    void ask(current).catch(complain)
  }, [digest, name, ask])
  useEffect(() => {
    if (text === saved) unsaved.delete(name)
    else unsaved.set(name, { digest, text })
  }, [name, digest, text, saved])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const edit = useCallback(
    (next: string) => {
      setText(next)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void ask(next).catch(complain), PAUSE_MS)
    },
    [ask],
  )
  const latest = useRef(text)
  latest.current = text
  const move = useCallback(
    async (one: RuleMove): Promise<boolean> => {
      try {
        const draft = await ask(latest.current, one)
        if (draft !== undefined) setText(draft.text)
        return true
      } catch (error) {
        complain(error)
        return false
      }
    },
    [ask],
  )
  return { text, meaning, changed: text !== saved, edit, move }
}
