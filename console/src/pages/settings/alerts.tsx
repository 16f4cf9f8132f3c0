// Alerts: what they are sent for and over which channels, the last ones, and a test message. They are set
// in sluice.yaml.

import { type JSX, useState } from 'react'
import type {
  AlertsView,
  AlertTest,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain } from '../../ui/toasts.tsx'
import { date, span } from '../../ui/words.ts'

const REFRESH_MS = 10_000
const SENT_SHOWN = 5

const KINDS: Readonly<Record<string, string>> = {
  denials: 'many calls denied',
  injection: 'an answer instructs the model',
  limit: 'a limit nearly full',
  server: 'a server fails',
  definition: 'a definition changed',
  tools: 'new tools',
  ledger: 'calls not recorded, or the chain not verified',
  gate: 'a gate lost',
  test: 'test',
}

export function AlertSettings(): JSX.Element | null {
  const { value, reload } = useResource<AlertsView>('/alerts', REFRESH_MS)
  const [tested, setTested] = useState<AlertTest>()
  const [busy, setBusy] = useState(false)
  const me = useMe()
  if (value === undefined) return null
  const { alerts } = value
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
    <section className="card card-body stack" aria-label="Alerts">
      <div className="row spread">
        <h2>Alerts</h2>
        {alerts !== null && mayAct(me, 'admin') && (
          <Button onPress={test} isDisabled={busy}>
            {busy ? 'Sending…' : 'Send a test'}
          </Button>
        )}
      </div>
      {alerts === null ? (
        <p className="muted">
          None are sent. Write <code>alerts: {'{}'}</code> in sluice.yaml, with a webhook or e-mail
          under <code>approvals</code>.
        </p>
      ) : (
        <>
          <p>
            Sent by {alerts.channels.join(' and ')}, at most one of each kind every{' '}
            {span(alerts.everyMs / 1_000)}:{' '}
            {alerts.on.map((kind) => KINDS[kind] ?? kind).join(', ')}.
          </p>
          <div role="status" className="stack">
            {tested?.deliveries.map(({ channel, why }) => (
              <Notice key={channel} kind={why === '' ? 'good' : 'bad'}>
                {why === '' ? `The test was sent by ${channel}.` : `${channel}: ${why}`}
              </Notice>
            ))}
          </div>
          {alerts.sent.length > 0 && (
            <ul className="stack small">
              {alerts.sent.slice(0, SENT_SHOWN).map(({ id, atMs, title, facts, page }) => (
                <li key={id}>
                  <span className="muted num">{date(atMs)}</span> <Link to={page}>{title}</Link>
                  {facts.length > 0 && (
                    <>
                      :{' '}
                      <UntrustedText
                        text={facts.map(({ name, value: text }) => `${name}: ${text}`).join('; ')}
                        className="muted"
                      />
                    </>
                  )}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  )
}
