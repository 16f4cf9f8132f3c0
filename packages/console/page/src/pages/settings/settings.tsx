// Settings: who may call (grants), who may decide (approvers), one's own passkeys, and the gate's
// file locations.

import type { JSX } from 'react'
import type { SettingsView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { Notice, Page } from '../../ui/page.tsx'
import { DataTable, Facts, Loaded, Panel } from '../../ui/panel.tsx'
import { useSection } from '../../ui/section.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { bytes, count, date, plural, span } from '../../ui/words.ts'
import { AlertSettings } from './alerts.tsx'
import { Grants } from './grants.tsx'
import { OwnPasskeys, People, You } from './people.tsx'
import './settings.css'

export function Settings(): JSX.Element {
  return (
    <Page
      title="Settings"
      lead="Who may call, who may decide, what is alerted, and where the data is."
    >
      <div className="settings">
        <You />
        <OwnPasskeys />
        <Grants />
        <People />
        <AlertSettings />
        <Place />
      </div>
    </Page>
  )
}

function Place(): JSX.Element {
  const settings = useResource<SettingsView>('/settings', 5_000)
  const section = useSection<HTMLElement>('data', settings.value !== undefined)
  return (
    <Panel ref={section} title="Data">
      <Loaded of={settings}>
        {({ why, ready, ledger, gates, files, ...gate }) => (
          <>
            {why !== '' && (
              <Notice kind={ready ? 'warn' : 'bad'}>
                <UntrustedText text={why} />
              </Notice>
            )}
            <Facts
              of={{
                Address: <span className="mono">{gate.url}</span>,
                Configuration: <span className="mono">{gate.config}</span>,
                Data: <span className="mono">{gate.data}</span>,
                Ledger: `${ledger.state}, ${count(ledger.records)} records`,
                Process: `${gate.pid}, up for ${span(gate.upSeconds)}, version ${gate.version}`,
              }}
            />
            {gates.length > 0 && <Gates gates={gates} />}
            <details>
              <summary>
                {plural(files.length, 'file')},{' '}
                {bytes(files.reduce((sum, file) => sum + file.bytes, 0))}
              </summary>
              <DataTable
                label="Files"
                rows={files}
                keyOf={({ name }) => name}
                columns={[
                  { head: 'File', className: 'mono', cell: ({ name }) => name },
                  { head: 'Holds', className: 'muted', cell: ({ what }) => what },
                  { head: 'Size', className: 'right num', cell: (file) => bytes(file.bytes) },
                ]}
              />
            </details>
          </>
        )}
      </Loaded>
    </Panel>
  )
}

/** Those that share the store with this one. */
function Gates({ gates }: { gates: SettingsView['gates'] }): JSX.Element {
  return (
    <DataTable
      label="Gates"
      rows={gates}
      keyOf={({ name }) => name}
      columns={[
        {
          head: 'Gate',
          className: 'mono',
          cell: ({ name, isThis }) => `${name}${isThis ? ' (this one)' : ''}`,
        },
        { head: 'State', cell: ({ state }) => (state === 'lost' ? <b>{state}</b> : state) },
        { head: 'Last seen', className: 'right num', cell: ({ seenAtMs }) => date(seenAtMs) },
      ]}
    />
  )
}
