// Approvers: the people and systems who may decide, with their roles; and the passkeys of the
// signed-in user.

import { type JSX, useState } from 'react'
import type { PersonView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { addPasskey, mayAct, refreshMe, sendWithProof, useMe } from '../../session.ts'
import { AskButton, Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useNow } from '../../ui/now.ts'
import { Notice } from '../../ui/page.tsx'
import { DataTable, Loaded, Panel } from '../../ui/panel.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { date, namesIn, span } from '../../ui/words.ts'

const REFRESH_MS = 5_000
const ROLES = ['viewer', 'approver', 'policy-manager', 'admin']

export function You(): JSX.Element {
  const me = useMe()
  const now = useNow(30_000)
  return (
    <Panel title={me?.name ?? ''}>
      <p className="muted">
        {describeRoles(me?.roles ?? [])}; this sign-in ends in{' '}
        {span(Math.max(0, Math.round(((me?.expiresAtMs ?? now) - now) / 1_000)))}
      </p>
    </Panel>
  )
}

export function OwnPasskeys(): JSX.Element {
  const me = useMe()
  const add = async ({ label = '', pin = '' }: FormValues) => {
    await addPasskey(label === '' ? 'This browser' : label, pin)
    showToast('the passkey is added')
  }
  const remove = (id: string) =>
    sendWithProof('DELETE', `/passkeys/${encodeURIComponent(id)}`)
      .then(refreshMe)
      .catch(complain)
  return (
    <Panel title="Your passkeys">
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
      <Form
        fields={[
          { name: 'label', label: 'Name of the passkey', placeholder: 'This browser' },
          ...(me?.hasPin === true ? [PIN] : []),
        ]}
        findFault={({ pin }) => (pin === '' ? '' : undefined)}
        confirm="Add a passkey"
        icon="plus"
        kind="plain"
        clears
        onSubmit={add}
      />
      {me?.hasPin === true && (
        <p className="muted small">
          The PIN that you set with <code>sluice approvers pin</code>. The gate asks for it whenever
          a passkey is added, so that an open page is not enough.
        </p>
      )}
    </Panel>
  )
}

const PIN: FormField = { name: 'pin', label: 'Your PIN', type: 'password' }

export function People(): JSX.Element {
  const me = useMe()
  const people = useResource<{ people: PersonView[] }>('/people', REFRESH_MS)
  const [once, setOnce] = useState<{ readonly text: string; readonly isLink: boolean }>()
  const may = mayAct(me, 'admin')
  const remove = (name: string) =>
    sendWithProof('DELETE', `/people/${encodeURIComponent(name)}`).then(() => {
      showToast(`${name} was removed`)
      people.reload()
    }, complain)
  const add = async (form: FormValues) => {
    const { token, invitation } = await sendWithProof<{ invitation?: unknown; token?: string }>(
      'POST',
      '/people',
      toPerson(form),
    )
    const link = typeof invitation === 'string' ? invitation : JSON.stringify(invitation)
    setOnce({ text: token ?? link, isLink: token === undefined })
    people.reload()
  }
  const button = (
    <AskButton
      says="Add person"
      title="Add person"
      fields={FIELDS}
      findFault={({ name }) => (name === '' ? '' : undefined)}
      confirm="Add"
      icon="key"
      onSubmit={add}
    />
  )
  return (
    <Panel title="People" side={may && button}>
      <Loaded of={people}>
        {({ people: list }) => (
          <DataTable
            label="People"
            rows={list}
            keyOf={({ name }) => name}
            columns={[
              {
                head: 'Name',
                cell: ({ name, kind }) => (
                  <>
                    <span className="strong">{name}</span>{' '}
                    {kind === 'system' && <span className="tag">system</span>}
                  </>
                ),
              },
              { head: 'Roles', cell: ({ roles }) => describeRoles(roles) },
              { head: 'Groups', className: 'muted', cell: ({ groups }) => groups.join(', ') },
              { head: 'Confirms with', className: 'muted', cell: describeCredentials },
              {
                head: '',
                className: 'right',
                cell: ({ name }) =>
                  may &&
                  name !== me?.name && (
                    <Button kind="refuse" onPress={() => remove(name)}>
                      Remove
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {once !== undefined && (
        <ShownOnce title="Shown only once" text={once.text} onClose={() => setOnce(undefined)}>
          The gate keeps only its hash.{' '}
          {once.isLink
            ? 'Send it to the person it is for. The link is valid for a day, and once.'
            : 'It is the credential of the system, which sends it with each request.'}
        </ShownOnce>
      )}
    </Panel>
  )
}

/** An admin may do everything. */
function describeRoles(roles: readonly string[]): string {
  return roles.includes('admin') ? 'admin' : roles.join(', ')
}

function describeCredentials({ passkeys, pinSet, token }: PersonView): string {
  const ways = [
    passkeys > 0 ? `${passkeys} passkey${passkeys === 1 ? '' : 's'}` : '',
    pinSet === null ? '' : 'PIN',
    token ? 'credential' : '',
  ].filter(Boolean)
  return ways.length === 0 ? 'nothing yet' : ways.join(', ')
}

const FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name' },
  {
    name: 'kind',
    label: 'Kind',
    value: 'person',
    choices: [
      { value: 'person', says: 'A person, who gets a link' },
      { value: 'system', says: 'A system, which gets a credential' },
    ],
  },
  { name: 'role', label: 'Role', value: 'approver', choices: toChoices(ROLES) },
  { name: 'groups', label: 'Groups (comma-separated)', placeholder: 'finance' },
]

function toPerson({ name, role = '', groups = '', kind }: FormValues): object {
  return {
    name,
    roles: role === 'viewer' ? ['viewer'] : ['viewer', role],
    groups: namesIn(groups),
    ...(kind === 'system' ? { token: true } : {}),
  }
}
