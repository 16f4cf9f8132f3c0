// Views of the ledger: filters, order and columns under a name. Those that a person saved are in this browser.

import { attempt } from '@sluice/policy/structures/attempt'
import { type ReactNode, useState } from 'react'
import { go, useRoute } from '../../route.ts'
import { readChoice, storeChoice } from '../../stored-choice.ts'
import { Ask } from '../../ui/ask.tsx'
import type { MenuEntry } from '../../ui/menu.tsx'

interface SavedView {
  readonly name: string
  /** As in the address, without the question mark. */
  readonly query: string
}

const KEY = 'sluice-ledger-views'
const BUILT_IN: readonly SavedView[] = [
  { name: 'Denied in 24 hours', query: 'word=deny&range=24h' },
  { name: 'Held in 24 hours', query: 'word=ask&range=24h' },
]
/** What is open beside the calls is no part of a view. */
const OPEN = ['call', 'callAt', 'callSession', 'callSeq']

/** What another version of the page, or somebody by hand, has stored in another form is no view. */
function readViews(): readonly SavedView[] {
  const stored: unknown = attempt(() => JSON.parse(readChoice(KEY) ?? '[]'), [])
  return Array.isArray(stored) ? stored.filter(isView) : []
}

function isView(value: unknown): value is SavedView {
  const { name, query }: Partial<SavedView> = Object(value)
  return typeof name === 'string' && typeof query === 'string'
}

/** Entries of the menu, and the dialog that asks for a name. */
export function useSavedViews(): {
  readonly entries: readonly MenuEntry[]
  readonly dialog: ReactNode
} {
  const { query } = useRoute()
  const [views, setViews] = useState(readViews)
  const [isNaming, setNaming] = useState(false)
  const current = [...query].filter(([name]) => !OPEN.includes(name))
  const shown = new URLSearchParams(current).toString()
  const store = (next: readonly SavedView[]) => {
    setViews(next)
    storeChoice(KEY, next.length === 0 ? undefined : JSON.stringify(next))
  }
  const isSaved = views.some((view) => view.query === shown)
  const entries = [
    ...[...BUILT_IN, ...views].map((view) => ({
      says: view.name,
      onPress: () => go(`/ledger?${view.query}`),
    })),
    ...(isSaved
      ? [
          {
            says: 'Forget this view',
            onPress: () => store(views.filter((view) => view.query !== shown)),
          },
        ]
      : []),
    ...(isSaved || shown === ''
      ? []
      : [{ says: 'Save this view…', onPress: () => setNaming(true) }]),
  ]
  const dialog = isNaming && (
    <Ask
      title="Save this view"
      fields={[{ name: 'name', label: 'Name', placeholder: 'Refunds above 50' }]}
      findFault={({ name }) => (name === '' ? '' : undefined)}
      confirm="Save"
      onSubmit={({ name = '' }) => store([...views, { name, query: shown }])}
      onClose={() => setNaming(false)}
    >
      Its filters, order and columns are stored in this browser.
    </Ask>
  )
  return { entries, dialog }
}
