// Settings: who may call (grants), who may decide (approvers), one's own passkeys, and the gate's
// file locations.

import type { JSX } from 'react'
import type { SettingsView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { ErrorNotice, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { useSection } from '../../ui/section.ts'
import { UntrustedText } from '../../ui/text.tsx'
import { bytes, count, date, span } from '../../ui/words.ts'
import { AlertSettings } from './alerts.tsx'
import { Grants } from './grants.tsx'
import { OwnPasskeys, People, You } from './people.tsx'
import './settings.css'

export function Settings(): JSX.Element {
  return (
    <div className="page">
      <PageHead
        title="Settings"
        lead="Who may call, who may decide, what is alerted, and where the data is."
      />
      <div className="page-body">
        <div className="settings">
          <You />
          <OwnPasskeys />
          <Grants />
          <People />
          <AlertSettings />
          <Place />
        </div>
      </div>
    </div>
  )
}

function Place(): JSX.Element {
  const { value, error, reload } = useResource<SettingsView>('/settings', 5_000)
  const section = useSection<HTMLElement>('data', value !== undefined)
  return (
    <section ref={section} className="card card-body stack" aria-label="Data">
      <h2>Data</h2>
      {error !== undefined && <ErrorNotice error={error} again={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <>
          {value.why !== '' && (
            <Notice kind={value.ready ? 'warn' : 'bad'}>
              <UntrustedText text={value.why} />
            </Notice>
          )}
          <dl className="facts">
            <dt>Address</dt>
            <dd className="mono">{value.url}</dd>
            <dt>Configuration</dt>
            <dd className="mono">{value.config}</dd>
            <dt>Data</dt>
            <dd className="mono">{value.data}</dd>
            <dt>Ledger</dt>
            <dd>
              {value.ledger.state}, {count(value.ledger.records)} records
            </dd>
            <dt>Process</dt>
            <dd>
              {value.pid}, up for {span(value.upSeconds)}, version {value.version}
            </dd>
          </dl>
          {value.frozen.map((frozen) => (
            <Notice key={frozen.what} kind="warn">
              {frozen.what} is frozen since {date(frozen.atMs)}: <UntrustedText text={frozen.why} />
            </Notice>
          ))}
          {value.gates.length > 0 && <Gates gates={value.gates} />}
          <table className="table">
            <thead>
              <tr>
                <th>File</th>
                <th>Holds</th>
                <th className="right">Size</th>
              </tr>
            </thead>
            <tbody>
              {value.files.map((file) => (
                <tr key={file.name}>
                  <td className="mono">{file.name}</td>
                  <td className="muted">{file.what}</td>
                  <td className="right num">{bytes(file.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  )
}

/** Those that share the store with this one. */
function Gates({ gates }: { gates: SettingsView['gates'] }): JSX.Element {
  return (
    <table className="table" aria-label="Gates">
      <thead>
        <tr>
          <th>Gate</th>
          <th>State</th>
          <th className="right">Last seen</th>
        </tr>
      </thead>
      <tbody>
        {gates.map(({ name, state, seenAtMs, isThis }) => (
          <tr key={name}>
            <td className="mono">
              {name}
              {isThis && <span className="muted"> (this one)</span>}
            </td>
            <td className={state === 'lost' ? 'strong' : 'muted'}>{state}</td>
            <td className="right num">{date(seenAtMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
