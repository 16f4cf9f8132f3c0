// Exports what matches the filters to a file, in the formats of `sluice ledger export`. The gate
// streams it with back-pressure; progress is shown, and it can be cancelled.

import { type JSX, useRef, useState } from 'react'
import { download } from '../../api.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { bytes } from '../../ui/words.ts'

const FORMATS = [
  { value: '', says: 'Export…' },
  { value: 'calls', says: 'CSV, a line for each call' },
  { value: 'csv', says: 'CSV of every record' },
  { value: 'jsonl', says: 'JSON lines' },
  { value: 'cef', says: 'CEF' },
  { value: 'otlp', says: 'OpenTelemetry' },
]

/** `filters` as in the address: empty, or starting with `?`. */
export function Export({ filters }: { filters: string }): JSX.Element {
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
  if (came === undefined)
    return <SelectField label="Export as" value="" onChange={begin} choices={FORMATS} />
  return (
    <Button onPress={() => calling.current?.abort()}>
      <Icon name="close" /> Stop at <span className="num">{bytes(came)}</span>
    </Button>
  )
}
