// Grants: tokens for callers, each with its policy. A token is shown once, when it is created;
// revoking closes its sessions.

import {
  AGENT_SESSIONS_MAX,
  GRANT_NAME,
  type GrantList,
  type GrantRequest,
  type GrantView,
} from '@sluice/access/identity/grant-fields'
import { type JSX, useState } from 'react'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { AskButton, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { useNow } from '../../ui/now.ts'
import { Notice } from '../../ui/page.tsx'
import { DataTable, Loaded, Panel } from '../../ui/panel.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago, minute, namesIn } from '../../ui/words.ts'
import { chosenZone } from '../../zone.ts'

const REFRESH_MS = 5_000
const DENIALS = [
  { value: '', says: 'Say only that the call is denied' },
  { value: 'explain', says: 'Name the rule and what is left' },
]

function LocalUserNotice(): JSX.Element {
  return (
    <Notice>
      There is no grant: every user of this machine may call. From the first grant on, every caller
      needs a token.
    </Notice>
  )
}

export function Grants(): JSX.Element {
  const me = useMe()
  const nowMs = useNow()
  const grants = useResource<GrantList>('/grants', REFRESH_MS)
  const [token, setToken] = useState<string>()
  const may = mayAct(me, 'admin')
  const hasGroups = grants.value?.grants.some(({ groups }) => groups.length > 0) === true
  const revoke = (name: string) =>
    sendWithProof('DELETE', `/grants/${encodeURIComponent(name)}`).then(() => {
      showToast(`revoked ${name}`)
      grants.reload()
    }, complain)
  const make = async (form: FormValues) => {
    const made = await sendWithProof<{ token: string }>('POST', '/grants', toGrant(form))
    setToken(made.token)
    grants.reload()
  }
  const add = (
    <AskButton
      says="New grant"
      title="New grant"
      fields={listFields(grants.value?.policies ?? [])}
      findFault={findFault}
      confirm="Create grant"
      icon="key"
      onSubmit={make}
    />
  )
  return (
    <Panel title="Grants" side={may && add}>
      <Loaded of={grants}>
        {({ localUser, grants: list }) => (
          <>
            {localUser && <LocalUserNotice />}
            {list.length > 0 && (
              <DataTable
                label="Grants"
                rows={list}
                keyOf={({ id }) => id}
                columns={[
                  { head: 'Name', className: 'strong gate-text', cell: ({ name }) => name },
                  { head: 'Policy', cell: ({ policy }) => policy },
                  hasGroups && {
                    head: 'Groups',
                    className: 'muted',
                    cell: ({ groups }) => groups.join(', '),
                  },
                  {
                    head: 'Last used',
                    className: 'muted nowrap',
                    cell: ({ lastUsed }) =>
                      lastUsed === null ? 'no call on record' : ago(Date.parse(lastUsed), nowMs),
                  },
                  { head: 'State', cell: (grant) => <State grant={grant} nowMs={nowMs} /> },
                  {
                    head: '',
                    cell: (grant) =>
                      isValid(grant, nowMs) && (
                        <span className="row line">
                          <FreezeButton target={{ scope: 'principal', id: grant.name }} />
                          {may && !grant.fixed && (
                            <Button kind="refuse" onPress={() => revoke(grant.name)}>
                              Revoke
                            </Button>
                          )}
                        </span>
                      ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
      {token !== undefined && (
        <ShownOnce title="Shown only once" text={token} onClose={() => setToken(undefined)}>
          The gate keeps only its hash. Store it where the caller reads it.
        </ShownOnce>
      )}
    </Panel>
  )
}

function isValid({ revoked, until }: GrantView, nowMs: number): boolean {
  return revoked === null && (until === null || Date.parse(until) > nowMs)
}

function State({ grant, nowMs }: { grant: GrantView; nowMs: number }): JSX.Element {
  const { revoked, until, fixed } = grant
  const valid = isValid(grant, nowMs)
  const says = valid ? (fixed ? 'in sluice.yaml' : 'active') : 'ended'
  return (
    <>
      {revoked === null ? says : 'revoked'}
      {until !== null && revoked === null && (
        <div className="muted small">
          {valid ? 'until' : 'at'} {minute(Date.parse(until))}
        </div>
      )}
    </>
  )
}

function listFields(policies: readonly string[]): FormField[] {
  const zone = chosenZone() === 'utc' ? 'UTC' : 'your time'
  return [
    { name: 'name', label: 'Name', placeholder: 'ci-bot' },
    { name: 'policy', label: 'Policy', choices: toChoices(policies), value: policies[0] ?? '' },
    { name: 'groups', label: 'Groups (comma-separated)', placeholder: 'nightly, build' },
    {
      name: 'slots',
      label: 'Maximum sessions',
      type: 'number',
      placeholder: String(AGENT_SESSIONS_MAX),
    },
    { name: 'until', label: `Ends (optional, ${zone})`, type: 'time' },
    { name: 'explain', label: 'Denials', choices: DENIALS },
  ]
}

function findFault({ name = '', until = '' }: FormValues): string | undefined {
  if (until !== '' && Number(until) <= Date.now()) return 'This time is over.'
  if (name === '') return ''
  return GRANT_NAME.form.test(name) ? undefined : GRANT_NAME.help
}

/** Takes the fields of the form as they were typed. */
function toGrant(form: FormValues): GrantRequest {
  const { name = '', policy = '', groups = '', slots = '', explain = '', until = '' } = form
  return {
    name,
    policy,
    groups: namesIn(groups),
    ...(slots === '' ? {} : { slots: Number(slots) }),
    ...(explain === '' ? {} : { explain: true }),
    ...(until === '' ? {} : { until: new Date(Number(until)).toISOString() }),
  }
}
