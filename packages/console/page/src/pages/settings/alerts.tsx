// Alerts: what they are sent for and over which channels, the last ones, and a test message. They are set
// in sluice.yaml.

import { type JSX, useState } from 'react'
import type { AlertsView, AlertTest, SentAlertView } from '../../../../src/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { mayAct, useMe } from '../../session.ts'
import { AlertList, AlertsMissing } from '../../ui/alert-list.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { Panel } from '../../ui/panel.tsx'
import { useSection } from '../../ui/section.ts'
import { complain } from '../../ui/toasts.tsx'
import { date, span } from '../../ui/words.ts'

const REFRESH_MS = 10_000
const SENT_SHOWN = 5
const LIST = new Intl.ListFormat('en')

const KINDS: Readonly<Record<string, string>> = {
  denials: 'many denied calls',
  injection: 'answers that instruct the model',
  limit: 'limits nearly full',
  server: 'failing servers',
  sandbox: 'hosts that a sandbox refuses',
  definition: 'definitions to review',
  tools: 'new tools',
  ledger: 'a ledger that cannot be written or does not verify',
  gate: 'lost gates',
  hooks: 'calls that a client made beside its hooks',
  test: 'test',
}

export function AlertSettings(): JSX.Element | null {
  const { value, reload } = useResource<AlertsView>('/alerts', REFRESH_MS)
  const [tested, setTested] = useState<AlertTest>()
  const [busy, setBusy] = useState(false)
  const me = useMe()
  const section = useSection<HTMLElement>('alerts', value !== undefined)
  if (value === undefined) return null
  const { alerts, sent, isComplete } = value
  const test = () => {
    setBusy(true)
    post<AlertTest>('/alerts/test')
      .then(setTested, complain)
      .finally(() => {
        setBusy(false)
        reload()
      })
  }
  return (
    <Panel
      ref={section}
      title="Alerts"
      side={
        alerts.channels.length > 0 &&
        mayAct(me, 'admin') && (
          <Button onPress={test} isDisabled={busy}>
            {busy ? 'Sending…' : 'Send a test'}
          </Button>
        )
      }
    >
      <p>
        {alerts.channels.length > 0
          ? `Shown here and sent by ${alerts.channels.join(' and ')}`
          : 'Shown here'}
        , at most one of each kind in {span(alerts.everyMs / 1_000)}, for{' '}
        {LIST.format(alerts.on.map((kind) => KINDS[kind] ?? kind))}.
      </p>
      {alerts.channels.length === 0 && (
        <p className="muted">
          To be sent a message as well, write <code>alerts: {'{}'}</code> in sluice.yaml, with a
          webhook or e-mail under <code>approvals</code>. It then looks through all answers, too.
        </p>
      )}
      <div role="status" className="stack">
        {tested?.deliveries.map(({ channel, why }) => (
          <Notice key={channel} kind={why === '' ? 'good' : 'bad'}>
            {why === '' ? `The test was sent by ${channel}.` : `${channel}: ${why}`}
          </Notice>
        ))}
      </div>
      {!isComplete && <AlertsMissing />}
      {sent.length > 0 && <SentAlerts sent={sent} />}
    </Panel>
  )
}

function SentAlerts({ sent }: { sent: readonly SentAlertView[] }): JSX.Element {
  const [isWhole, setWhole] = useState(false)
  return (
    <>
      <AlertList alerts={isWhole ? sent : sent.slice(0, SENT_SHOWN)} when={date} />
      {sent.length > SENT_SHOWN && (
        <div>
          <Button kind="quiet" onPress={() => setWhole(!isWhole)} aria-expanded={isWhole}>
            {isWhole ? 'Show fewer' : `Show all ${sent.length}`}
          </Button>
        </div>
      )}
    </>
  )
}
