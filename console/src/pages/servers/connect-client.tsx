// Connects a client: a grant with a token of its own, and the lines that the chosen client needs, with
// the address of the gate and the token. The token is shown once.

import { type JSX, useState } from 'react'
import type {
  ServerView,
  SettingsView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { sendWithProof } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Loading, Notice } from '../../ui/page.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { complain } from '../../ui/toasts.tsx'

interface Target {
  readonly server: string
  readonly url: string
  readonly token: string
}

interface Client {
  readonly value: string
  readonly says: string
  /** The file, or where it is typed. */
  readonly where: string
  readonly write: (target: Target) => string
}

const writeJson = (value: unknown) => JSON.stringify(value, null, 2)
const headersOf = (token: string) => ({ Authorization: `Bearer ${token}` })

const CLIENTS: readonly Client[] = [
  {
    value: 'claude-code',
    says: 'Claude Code',
    where: 'at a terminal',
    write: ({ server, url, token }) =>
      `claude mcp add --transport http ${server} ${url} --header "Authorization: Bearer ${token}"`,
  },
  {
    value: 'cursor',
    says: 'Cursor',
    where: 'in ~/.cursor/mcp.json',
    write: ({ server, url, token }) =>
      writeJson({ mcpServers: { [server]: { url, headers: headersOf(token) } } }),
  },
  {
    value: 'vscode',
    says: 'VS Code',
    where: 'in your own mcp.json (MCP: Open User Configuration)',
    write: ({ server, url, token }) =>
      writeJson({ servers: { [server]: { type: 'http', url, headers: headersOf(token) } } }),
  },
  {
    value: 'gemini',
    says: 'Gemini CLI',
    where: 'in ~/.gemini/settings.json',
    write: ({ server, url, token }) =>
      writeJson({ mcpServers: { [server]: { httpUrl: url, headers: headersOf(token) } } }),
  },
  {
    value: 'other',
    says: 'Another client',
    where: 'in its configuration',
    write: ({ url, token }) => `${url}\nAuthorization: Bearer ${token}`,
  },
]

/** As the gate reads it. */
const GRANT_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/

export function ConnectClient({
  servers,
  onClose,
}: {
  servers: readonly ServerView[]
  onClose: () => void
}): JSX.Element {
  const { value: settings } = useResource<SettingsView>('/settings')
  const [kind, setKind] = useState('claude-code')
  const [server, setServer] = useState(servers[0]?.name ?? '')
  const [name, setName] = useState('')
  const [policy, setPolicy] = useState('')
  const [token, setToken] = useState<string>()
  const client = CLIENTS.find(({ value }) => value === kind) ?? CLIENTS[0]
  const chosenPolicy = policy === '' ? (settings?.policies[0] ?? 'policy') : policy
  const isReady = GRANT_NAME.test(name) && server !== ''
  const make = () => {
    if (!isReady) return
    const body = { name, policy: chosenPolicy, groups: [] }
    sendWithProof<{ token: string }>('POST', '/grants', body).then(
      (made) => setToken(made.token),
      complain,
    )
  }
  if (settings === undefined)
    return (
      <Dialog title="Connect a client" onClose={onClose}>
        <Loading />
      </Dialog>
    )
  if (token !== undefined && client !== undefined)
    return <Snippet client={client} onClose={onClose} target={toTarget(settings, server, token)} />
  return (
    <Dialog title="Connect a client" onClose={onClose}>
      {!settings.hasAddress && (
        <Notice kind="warn">
          This gate was started by a client and has no address. Run <code>sluice init</code> to put
          it in front of clients on this machine, or start it with <code>sluice up</code>.
        </Notice>
      )}
      <SelectField label="Client" quiet={false} value={kind} onChange={setKind} choices={CLIENTS} />
      <SelectField
        label="Server"
        quiet={false}
        value={server}
        onChange={setServer}
        choices={servers.map((one) => ({ value: one.name, says: one.name }))}
      />
      <TextField
        label="Name of its grant"
        isFirst
        placeholder="ann-laptop"
        value={name}
        onChange={setName}
        onEnter={make}
      />
      {name !== '' && !GRANT_NAME.test(name) && (
        <Notice kind="bad">Use letters, digits and . _ @ - (no spaces).</Notice>
      )}
      <SelectField
        label="Policy"
        quiet={false}
        value={chosenPolicy}
        onChange={setPolicy}
        choices={settings.policies.map((one) => ({ value: one, says: one }))}
      />
      <div className="row">
        <Button kind="primary" isDisabled={!isReady || !settings.hasAddress} onPress={make}>
          <Icon name="key" /> Create the grant
        </Button>
      </div>
    </Dialog>
  )
}

function toTarget({ url }: SettingsView, server: string, token: string): Target {
  return { server, url: `${url.replace(/\/$/, '')}/mcp/${encodeURIComponent(server)}`, token }
}

function Snippet({
  client: { says, where, write },
  target,
  onClose,
}: {
  client: Client
  target: Target
  onClose: () => void
}): JSX.Element {
  return (
    <ShownOnce title={`${says}: shown only once`} text={write(target)} onClose={onClose}>
      Put this {where}. The gate keeps only the hash of the token.
    </ShownOnce>
  )
}
