// Grants: tokens for callers, each with its policy. A token is shown once, when it is created;
// revoking closes its sessions.

import { type JSX, useState } from 'react'
import type { SettingsView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import {
  AGENT_SESSIONS_MAX,
  GRANT_NAME,
  type GrantList,
  type GrantRequest,
  type GrantView,
} from '../../../../packages/sluice/src/core/grant-fields.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { mayAct, sendWithProof, useMe } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { ErrorNotice, Notice } from '../../ui/page.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { ago, minute, namesIn } from '../../ui/words.ts'
import { chosenZone } from '../../zone.ts'

const REFRESH_MS = 5_000
const DENIALS = [
  { value: '', says: 'Say only that the call is denied' },
  { value: 'explain', says: 'Name the rule and what is left' },
]

export function Grants(): JSX.Element {
  const me = useMe()
  const nowMs = useNow()
  const { value, error, reload } = useResource<GrantList>('/grants', REFRESH_MS)
  // Gates that share a store each know only the calls that they took.
  const { value: settings } = useResource<SettingsView>('/settings')
  const never = (settings?.gates.length ?? 0) > 0 ? 'not at this gate' : 'never'
  const [making, setMaking] = useState(false)
  const [token, setToken] = useState<string>()
  const may = mayAct(me, 'admin')
  const hasGroups = value?.grants.some(({ groups }) => groups.length > 0) === true
  const revoke = (name: string) =>
    sendWithProof('DELETE', `/grants/${encodeURIComponent(name)}`).then(() => {
      showToast(`revoked ${name}`)
      reload()
    }, complain)
  return (
    <section className="card card-body stack" aria-label="Grants">
      <div className="row spread">
        <h2>Grants</h2>
        {may && (
          <Button onPress={() => setMaking(true)}>
            <Icon name="plus" /> New grant
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNotice error={error} again={reload} />}
      {value?.localUser === true && (
        <Notice>
          There is no grant: every user of this machine may call. From the first grant on, every
          caller needs a token.
        </Notice>
      )}
      {value !== undefined && value.grants.length > 0 && (
        <table className="table folds">
          <thead>
            <tr>
              <th>Name</th>
              <th>Policy</th>
              {hasGroups && <th>Groups</th>}
              <th>Last used</th>
              <th>State</th>
              <th>
                <span className="visually-hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.grants.map((grant) => (
              <tr key={grant.id}>
                <td className="strong nowrap">{grant.name}</td>
                <td>{grant.policy}</td>
                {hasGroups && <td className="muted">{grant.groups.join(', ')}</td>}
                <td className="muted nowrap" title={grant.lastUsed ?? undefined}>
                  {grant.lastUsed === null ? never : ago(Date.parse(grant.lastUsed), nowMs)}
                </td>
                <td>
                  {stateOf(grant, nowMs)}
                  {grant.until !== null && grant.revoked === null && (
                    <div className="muted small">
                      {isValid(grant, nowMs) ? 'until ' : 'at '}
                      {minute(Date.parse(grant.until))}
                    </div>
                  )}
                </td>
                <td>
                  <span className="row">
                    {isValid(grant, nowMs) && (
                      <FreezeButton target={{ scope: 'principal', id: grant.name }} />
                    )}
                    {may && isValid(grant, nowMs) && !grant.fixed && (
                      <Button kind="refuse" onPress={() => revoke(grant.name)}>
                        Revoke
                      </Button>
                    )}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {making && (
        <NewGrant
          policies={value?.policies ?? []}
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setToken(made)
            reload()
          }}
        />
      )}
      {token !== undefined && <Token token={token} onClose={() => setToken(undefined)} />}
    </section>
  )
}

function isValid({ revoked, until }: GrantView, nowMs: number): boolean {
  return revoked === null && (until === null || Date.parse(until) > nowMs)
}

function stateOf(grant: GrantView, nowMs: number): string {
  if (grant.revoked !== null) return 'revoked'
  if (!isValid(grant, nowMs)) return 'ended'
  return grant.fixed ? 'in sluice.yaml' : 'active'
}

function NewGrant({
  policies,
  onClose,
  onMade,
}: {
  policies: readonly string[]
  onClose: () => void
  onMade: (token: string) => void
}): JSX.Element {
  const [name, setName] = useState('')
  const [policy, setPolicy] = useState(policies[0] ?? 'policy')
  const [groups, setGroups] = useState('')
  const [slots, setSlots] = useState('')
  const [explain, setExplain] = useState('')
  const [until, setUntil] = useState('')
  const isOver = until !== '' && readInput(until) <= Date.now()
  const fault = name === '' || GRANT_NAME.form.test(name) ? '' : GRANT_NAME.help
  const isReady = name !== '' && fault === '' && !isOver
  const make = () => {
    if (!isReady) return
    const added = addGrant({ name, policy, groups, slots, explain, until })
    added.then(({ token }) => onMade(token), complain)
  }
  return (
    <Dialog title="New grant" onClose={onClose}>
      <TextField
        label="Name"
        isFirst
        value={name}
        onChange={setName}
        placeholder="ci-bot"
        onEnter={make}
      />
      {fault !== '' && <Notice kind="bad">{fault}</Notice>}
      <SelectField
        label="Policy"
        quiet={false}
        value={policy}
        onChange={setPolicy}
        choices={policies.map((one) => ({ value: one, says: one }))}
      />
      <TextField
        label="Groups (comma-separated)"
        value={groups}
        onChange={setGroups}
        placeholder="nightly, build"
        onEnter={make}
      />
      <TextField
        label="Maximum sessions"
        type="number"
        min={1}
        value={slots}
        onChange={setSlots}
        placeholder={String(AGENT_SESSIONS_MAX)}
        onEnter={make}
      />
      <TextField
        label={`Ends (optional, ${chosenZone() === 'utc' ? 'UTC' : 'your time'})`}
        type="datetime-local"
        value={until}
        onChange={setUntil}
        onEnter={make}
      />
      {isOver && <Notice kind="bad">This time is over.</Notice>}
      <SelectField
        label="Denials"
        quiet={false}
        value={explain}
        onChange={setExplain}
        choices={DENIALS}
      />
      <div className="row">
        <Button kind="primary" isDisabled={!isReady} onPress={make}>
          <Icon name="key" /> Create grant
        </Button>
      </div>
    </Dialog>
  )
}

/** Takes the fields of the form as they were typed. */
function addGrant(
  form: Readonly<Record<'name' | 'policy' | 'groups' | 'slots' | 'explain' | 'until', string>>,
): Promise<{ token: string }> {
  const { name, policy, groups, slots, explain, until } = form
  const request: GrantRequest = {
    name,
    policy,
    groups: namesIn(groups),
    ...(slots === '' ? {} : { slots: Number(slots) }),
    ...(explain === '' ? {} : { explain: true }),
    ...(until === '' ? {} : { until: new Date(readInput(until)).toISOString() }),
  }
  return sendWithProof('POST', '/grants', request)
}

/** What the field holds has no zone: it is the one that the console shows times in. */
function readInput(text: string): number {
  return Date.parse(chosenZone() === 'utc' ? `${text}Z` : text)
}

export function Token({
  token,
  what = 'Store it where the caller reads it.',
  onClose,
}: {
  token: string
  what?: string
  onClose: () => void
}): JSX.Element {
  return (
    <ShownOnce title="Shown only once" text={token} onClose={onClose}>
      The gate keeps only its hash. {what}
    </ShownOnce>
  )
}
