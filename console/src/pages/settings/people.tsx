// Approvers: the people and systems who may decide, with their roles; and the passkeys of the
// signed-in user.

import { type JSX, useState } from 'react'
import type { PersonView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { addPasskey, mayAct, refreshMe, sendWithProof, signOut, useMe } from '../../session.ts'
import { openShortcut } from '../../shortcuts.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { ErrorNotice, Notice } from '../../ui/page.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { ThemeSwitch } from '../../ui/theme-switch.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { date, namesIn, span } from '../../ui/words.ts'
import { ZoneSwitch } from '../../ui/zone-switch.tsx'
import { Token } from './grants.tsx'

const REFRESH_MS = 5_000
const ROLES = ['viewer', 'approver', 'policy-manager', 'admin']

/** The signed-in user; on a phone the only place to sign out. */
export function You(): JSX.Element {
  const me = useMe()
  const now = useNow(30_000)
  return (
    <section className="card card-body row spread" aria-label="You">
      <div>
        <h2>
          <UntrustedText text={me?.name ?? ''} />
        </h2>
        <p className="muted">
          {me?.roles.includes('admin') === true ? 'admin' : me?.roles.join(', ')}; this sign-in ends
          in {span(secondsTo(me?.expiresAtMs ?? now, now))}
        </p>
      </div>
      <div className="row phone-only">
        <Button onPress={() => openShortcut('palette')}>Go to…</Button>
        <ThemeSwitch />
        <ZoneSwitch />
        <Button onPress={signOut}>Sign out</Button>
      </div>
    </section>
  )
}

function secondsTo(ms: number, nowMs: number): number {
  return Math.max(0, Math.round((ms - nowMs) / 1_000))
}

export function OwnPasskeys(): JSX.Element {
  const me = useMe()
  const [label, setLabel] = useState('')
  const [pin, setPin] = useState('')
  const add = () =>
    addPasskey(label === '' ? 'This browser' : label, pin).then(() => {
      setPin('')
      showToast('the passkey is added')
    }, complain)
  const remove = (id: string) =>
    sendWithProof('DELETE', `/passkeys/${encodeURIComponent(id)}`)
      .then(refreshMe)
      .catch(complain)
  return (
    <section className="card card-body stack" aria-label="Your passkeys">
      <h2>Your passkeys</h2>
      {me?.passkeys.length === 0 && (
        <Notice kind="warn">
          You have none yet. You need one to approve calls, save policies and create grants: a
          program that runs as your user cannot use it.
        </Notice>
      )}
      <ul className="stack">
        {me?.passkeys.map((key) => (
          <li key={key.id} className="row spread">
            <span className="row">
              <Icon name="key" /> <UntrustedText text={key.label} className="strong" />
              <span className="muted small">since {date(key.createdMs)}</span>
            </span>
            {me.passkeys.length > 1 && (
              <Button kind="refuse" onPress={() => remove(key.id)}>
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div className="row passkey-row">
        <TextField
          label="Name of the passkey"
          value={label}
          onChange={setLabel}
          placeholder="This browser"
        />
        {me?.hasPin === true && (
          <TextField
            label="Your PIN"
            type="password"
            value={pin}
            onChange={setPin}
            onEnter={() => pin !== '' && void add()}
          />
        )}
        <Button onPress={add} isDisabled={me?.hasPin === true && pin === ''}>
          <Icon name="plus" /> Add a passkey
        </Button>
      </div>
      {me?.hasPin === true && (
        <p className="muted small">
          The PIN that you set with <code>sluice approvers pin</code>. The gate asks for it whenever
          a passkey is added, so that an open page is not enough.
        </p>
      )}
    </section>
  )
}

export function People(): JSX.Element {
  const me = useMe()
  const { value, error, reload } = useResource<{ people: PersonView[] }>('/people', REFRESH_MS)
  const [adding, setAdding] = useState(false)
  const [once, setOnce] = useState<string>()
  const may = mayAct(me, 'admin')
  const remove = (name: string) =>
    sendWithProof('DELETE', `/people/${encodeURIComponent(name)}`).then(() => {
      showToast(`${name} was removed`)
      reload()
    }, complain)
  return (
    <section className="card card-body stack" aria-label="People">
      <div className="row spread">
        <h2>People</h2>
        {may && (
          <Button onPress={() => setAdding(true)}>
            <Icon name="plus" /> Add person
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNotice error={error} again={reload} />}
      <table className="table folds" hidden={value === undefined}>
        <thead>
          <tr>
            <th>Name</th>
            <th>Roles</th>
            <th>Groups</th>
            <th>Confirms with</th>
            <th>
              <span className="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {(value?.people ?? []).map((person) => (
            <tr key={person.name}>
              <td>
                <span className="strong">{person.name}</span>{' '}
                {person.kind === 'system' && <span className="tag">system</span>}
              </td>
              <td>{person.roles.join(', ')}</td>
              <td className="muted">{person.groups.join(', ')}</td>
              <td className="muted">{describeCredentials(person)}</td>
              <td className="right">
                {may && person.name !== me?.name && (
                  <Button kind="refuse" onPress={() => remove(person.name)}>
                    Remove
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {adding && (
        <AddPerson
          onClose={() => setAdding(false)}
          onAdded={(message) => {
            setAdding(false)
            setOnce(message)
            reload()
          }}
        />
      )}
      {once !== undefined && (
        <Token
          token={once}
          what="Send it to the person it is for. A link is valid for a day, and once."
          onClose={() => setOnce(undefined)}
        />
      )}
    </section>
  )
}

function describeCredentials({ passkeys, pinSet, token }: PersonView): string {
  const ways = [
    passkeys > 0 ? `${passkeys} passkey${passkeys === 1 ? '' : 's'}` : '',
    pinSet === null ? '' : 'PIN',
    token ? 'credential' : '',
  ].filter(Boolean)
  return ways.length === 0 ? 'nothing yet' : ways.join(', ')
}

function AddPerson({
  onClose,
  onAdded,
}: {
  onClose: () => void
  onAdded: (message: string) => void
}): JSX.Element {
  const [name, setName] = useState('')
  const [role, setRole] = useState('approver')
  const [groups, setGroups] = useState('')
  const [kind, setKind] = useState('person')
  const add = () => {
    if (name === '') return
    sendWithProof<{ invitation?: unknown; token?: string }>('POST', '/people', {
      name,
      roles: role === 'viewer' ? ['viewer'] : ['viewer', role],
      groups: namesIn(groups),
      ...(kind === 'system' ? { token: true } : {}),
    }).then(
      ({ token, invitation }) =>
        onAdded(
          token ?? (typeof invitation === 'string' ? invitation : JSON.stringify(invitation)),
        ),
      complain,
    )
  }
  return (
    <Dialog title="Add person" onClose={onClose}>
      <TextField label="Name" isFirst value={name} onChange={setName} onEnter={add} />
      <SelectField
        label="Kind"
        quiet={false}
        value={kind}
        onChange={setKind}
        choices={[
          { value: 'person', says: 'A person, who gets a link' },
          { value: 'system', says: 'A system, which gets a credential' },
        ]}
      />
      <SelectField
        label="Role"
        quiet={false}
        value={role}
        onChange={setRole}
        choices={ROLES.map((one) => ({ value: one, says: one }))}
      />
      <TextField
        label="Groups (comma-separated)"
        value={groups}
        onChange={setGroups}
        placeholder="finance"
      />
      <div className="row">
        <Button kind="primary" isDisabled={name === ''} onPress={add}>
          <Icon name="key" /> Add
        </Button>
      </div>
    </Dialog>
  )
}
