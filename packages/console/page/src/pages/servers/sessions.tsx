// Open sessions, with what each has cost. Nothing while there are none.

import type { JSX } from 'react'
import type { OpenSessionView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { type DataColumn, DataTable, Panel } from '../../ui/panel.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { count } from '../../ui/words.ts'

const REFRESH_MS = 5_000

const COLUMNS: DataColumn<OpenSessionView>[] = [
  { head: 'Session', cell: ({ name }) => <UntrustedText text={name} /> },
  {
    head: 'Principal',
    className: 'mono',
    cell: ({ principal }) => <UntrustedText text={principal} />,
  },
  { head: 'Calls', className: 'right num', cell: ({ calls }) => count(calls) },
  { head: 'Answers, est. tokens', className: 'right num', cell: ({ tokens }) => count(tokens) },
  { head: 'Cost', className: 'right num', cell: ({ cost }) => (cost === '0' ? '' : cost) },
  { head: 'Has seen', className: 'small', cell: ({ saw }) => saw.join(', ') },
]

export function Sessions(): JSX.Element | null {
  const { value } = useResource<{ sessions: readonly OpenSessionView[] }>('/sessions', REFRESH_MS)
  const rows = value?.sessions ?? []
  if (rows.length === 0) return null
  return (
    <Panel title="Sessions">
      <DataTable label="Sessions" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
    </Panel>
  )
}
