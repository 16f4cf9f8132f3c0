// Views of the ledger: filters, order and columns under a name. Those that a person saved are in this browser.

import { attempt } from '@sluice/policy/core/attempt'
import { type JSX, useState } from 'react'
import { go, useRoute } from '../../route.ts'
import { readChoice, storeChoice } from '../../stored-choice.ts'
import { Ask } from '../../ui/ask.tsx'
import { SelectField } from '../../ui/fields.tsx'

interface SavedView {
  readonly name: string
  /** As in the address, without the question mark. */
  readonly query: string
}

const KEY = 'sluice-ledger-views'
const DAY_MS = 86_400_000
/** What is open beside the calls is no part of a view. */
const OPEN = ['call', 'callAt', 'callSession', 'callSeq']

function readViews(): readonly SavedView[] {
  return attempt(() => JSON.parse(readChoice(KEY) ?? '[]'), [])
}

export function SavedViews(): JSX.Element {
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
  const choose = (chosen: string) => {
    if (chosen === 'save') return setNaming(true)
    if (chosen === 'forget') return store(views.filter((view) => view.query !== shown))
    go(`/ledger?${chosen}`)
  }
  const sinceMs = Date.now() - DAY_MS
  return (
    <>
      <SelectField
        label="Views"
        value=""
        onChange={choose}
        choices={[
          { value: '', says: 'Views…' },
          { value: `word=deny&sinceMs=${sinceMs}`, says: 'Denied in 24 hours' },
          { value: `word=ask&sinceMs=${sinceMs}`, says: 'Held in 24 hours' },
          ...views.map((view) => ({ value: view.query, says: view.name })),
          ...(isSaved ? [{ value: 'forget', says: 'Forget this view' }] : []),
          ...(isSaved || shown === '' ? [] : [{ value: 'save', says: 'Save this view…' }]),
        ]}
      />
      {isNaming && (
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
      )}
    </>
  )
}
