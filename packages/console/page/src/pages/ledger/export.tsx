// Exports what matches the filters to a file, in the formats of `sluice ledger export`. The gate
// streams it with back-pressure; progress is shown, and it can be cancelled.

import { type ReactNode, useRef, useState } from 'react'
import { download } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import type { MenuEntry } from '../../ui/menu.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { bytes } from '../../ui/words.ts'

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
  const [came, setCame] = useState<number>()
  const calling = useRef<AbortController>(undefined)
  const begin = (format: string) => {
    const mine = new AbortController()
    calling.current = mine
    setCame(0)
    const query = `${filters === '' ? '?' : `${filters}&`}format=${format}`
    download(`/ledger/export${query}`, { signal: mine.signal, onProgress: setCame })
      .then(
        (name) => showToast(`Saved ${name}`),
        (error) => mine.signal.aborted || complain(error),
      )
      .finally(() => setCame(undefined))
  }
  const entries = FORMATS.map(({ value, says }) => ({ says, onPress: () => begin(value) }))
  const progress = came !== undefined && (
    <Button onPress={() => calling.current?.abort()}>
      <Icon name="close" /> Stop at <span className="num">{bytes(came)}</span>
    </Button>
  )
  return { entries: came === undefined ? entries : [], progress }
}
