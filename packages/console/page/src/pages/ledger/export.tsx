// Exports what matches the filters to a file, in the formats of `sluice ledger export`. The gate
// streams it with back-pressure; it can be cancelled.

import { type ReactNode, useState } from 'react'
import { download } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import type { MenuEntry } from '../../ui/menu.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'

const FORMATS = [
  { value: 'calls', says: 'CSV, a line for each call' },
  { value: 'csv', says: 'CSV of every record' },
  { value: 'jsonl', says: 'JSON lines' },
  { value: 'cef', says: 'CEF' },
  { value: 'otlp', says: 'OpenTelemetry' },
]

/** `filters` as in the address: empty, or starting with `?`. */
export function useExport(filters: string): {
  readonly entries: readonly MenuEntry[]
  /** While a file comes. */
  readonly progress: ReactNode
} {
  const [calling, setCalling] = useState<AbortController>()
  const begin = (format: string) => {
    const mine = new AbortController()
    setCalling(mine)
    const query = `${filters === '' ? '?' : `${filters}&`}format=${format}`
    download(`/ledger/export${query}`, { signal: mine.signal })
      .then(
        (name) => showToast(`Saved ${name}`),
        (error) => mine.signal.aborted || complain(error),
      )
      .finally(() => setCalling(undefined))
  }
  const entries = FORMATS.map(({ value, says }) => ({ says, onPress: () => begin(value) }))
  const progress = calling !== undefined && (
    <Button onPress={() => calling.abort()}>
      <Icon name="close" /> Stop the export
    </Button>
  )
  return { entries: calling === undefined ? entries : [], progress }
}
