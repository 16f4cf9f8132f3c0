// Connects a client: a grant with a token of its own, and the lines that the chosen client needs, with
// the address of the gate and the token. The token is shown once.

import { GRANT_NAME } from '@sluice/access/identity/grant-fields'
import { type JSX, useState } from 'react'
import type { ServerView, SettingsView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { sendWithProof } from '../../session.ts'
import { Form, type FormField } from '../../ui/ask.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { toChoices } from '../../ui/fields.tsx'
import { Notice } from '../../ui/page.tsx'
import { Loaded } from '../../ui/panel.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'

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

interface ConnectClientProps {
  readonly servers: readonly ServerView[]
  readonly onClose: () => void
}

export function ConnectClient({ servers, onClose }: ConnectClientProps): JSX.Element {
  const settings = useResource<SettingsView>('/settings')
  const [made, setMade] = useState<{ readonly client: Client; readonly text: string }>()
  if (made !== undefined)
    return (
      <ShownOnce title={`${made.client.says}: shown only once`} text={made.text} onClose={onClose}>
        Put this {made.client.where}. The gate keeps only the hash of the token.
      </ShownOnce>
    )
  return (
    <Dialog title="Connect a client" onClose={onClose}>
      <Loaded of={settings}>
        {({ policies, hasAddress, url }) => (
          <Form
            fields={listFields(servers, policies)}
            findFault={({ name = '' }) => {
              if (name === '' || !hasAddress) return ''
              return GRANT_NAME.form.test(name) ? undefined : GRANT_NAME.help
            }}
            confirm="Create the grant"
            icon="key"
            onSubmit={async ({ name, policy, server = '', client: kind }) => {
              const body = { name, policy, groups: [] }
              const { token } = await sendWithProof<{ token: string }>('POST', '/grants', body)
              const client = CLIENTS.find(({ value }) => value === kind) as Client
              const path = `${url.replace(/\/$/, '')}/mcp/${encodeURIComponent(server)}`
              setMade({ client, text: client.write({ server, url: path, token }) })
            }}
          >
            {!hasAddress && (
              <Notice kind="warn">
                This gate was started by a client and has no address. Run <code>sluice init</code>{' '}
                to put it in front of clients on this machine, or start it with{' '}
                <code>sluice up</code>.
              </Notice>
            )}
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}

function listFields(servers: readonly ServerView[], policies: readonly string[]): FormField[] {
  const names = servers.map(({ name }) => name)
  return [
    { name: 'client', label: 'Client', choices: CLIENTS, value: 'claude-code' },
    { name: 'server', label: 'Server', choices: toChoices(names), value: names[0] ?? '' },
    { name: 'name', label: 'Name of its grant', placeholder: 'ann-laptop' },
    { name: 'policy', label: 'Policy', choices: toChoices(policies), value: policies[0] ?? '' },
  ]
}
