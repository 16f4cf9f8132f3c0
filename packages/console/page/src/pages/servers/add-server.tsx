// Adds a server: its address or its command by form, then exactly what would be reached or started, then
// the passkey, then its tools with classes, warnings and suggested rules. Only if sluice.yaml allows it.

import { type JSX, useState } from 'react'
import type {
  PendingDefinitionsView,
  PolicyDraft,
  PolicyView,
  SettingsView,
  ToolView,
} from '../../../../src/contract/contract.ts'
import { formatQuery, get, post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go } from '../../route.ts'
import { sendWithProof } from '../../session.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { Loading, Notice } from '../../ui/page.tsx'
import { DataTable } from '../../ui/panel.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { plural } from '../../ui/words.ts'
import { keepDraft } from '../policy/draft.ts'

interface Preview {
  readonly server: string
  readonly how: 'added' | 'changed'
  readonly entry: unknown
  readonly before?: unknown
  readonly digest: string
}

export function AddServer({ onClose }: { onClose: () => void }): JSX.Element {
  const { value: settings } = useResource<SettingsView>('/settings')
  const [preview, setPreview] = useState<Preview>()
  const [added, setAdded] = useState<string>()
  if (added !== undefined) return <FirstList server={added} onClose={onClose} />
  return (
    <Dialog title="Add a server" onClose={onClose} wide>
      {settings === undefined && <Loading />}
      {settings?.canChangeServers === false && (
        <Notice kind="warn">
          This gate takes no servers from the console: a server is a program that it runs. Run{' '}
          <code>sluice server add</code> at a terminal, or set{' '}
          <code>api: {'{ change_servers: true }'}</code> in {settings.config} and restart the gate.
        </Notice>
      )}
      {settings?.canChangeServers === true &&
        (preview === undefined ? (
          <EntryForm onPreview={setPreview} />
        ) : (
          <Confirm
            preview={preview}
            onBack={() => setPreview(undefined)}
            onAdded={() => setAdded(preview.server)}
          />
        ))}
    </Dialog>
  )
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i

function EntryForm({ onPreview }: { onPreview: (preview: Preview) => void }): JSX.Element {
  const look = async ({ name = '', ...form }: FormValues) =>
    onPreview(
      await post<Preview>(`/servers/${encodeURIComponent(name)}/preview`, { entry: toEntry(form) }),
    )
  return (
    <Form fields={listFields} findFault={findFault} confirm="See what it does" onSubmit={look} />
  )
}

const KINDS = [
  { value: 'url', says: 'By its address' },
  { value: 'command', says: 'The gate starts it' },
]

function listFields({ kind = 'url' }: FormValues): FormField[] {
  const ways: readonly FormField[] =
    kind === 'url'
      ? [
          { name: 'url', label: 'Address', placeholder: 'https://mcp.example.com/mcp' },
          {
            name: 'authorization',
            label: 'Authorization header (optional; use a variable of the gate for a key)',
            placeholder: 'Bearer $' + '{BILLING_TOKEN}',
          },
        ]
      : [
          {
            name: 'command',
            label: 'Command, one word per line',
            type: 'area',
            rows: 4,
            placeholder: 'npx\n-y\n@modelcontextprotocol/server-memory',
          },
          {
            name: 'environment',
            label: 'Environment (optional), NAME=value per line',
            type: 'area',
            rows: 2,
          },
        ]
  return [
    { name: 'name', label: 'Name', placeholder: 'billing' },
    { name: 'kind', label: 'How it is reached', type: 'chips', choices: KINDS, value: 'url' },
    ...ways,
  ]
}

function findFault({ name = '', kind, url = '', command = '' }: FormValues): string | undefined {
  if (name !== '' && !NAME.test(name))
    return 'Use letters, digits, - and _ (no spaces), at most 64.'
  const isReached = kind === 'url' ? /^https?:\/\/\S+$/.test(url) : linesOf(command).length > 0
  return name !== '' && isReached ? undefined : ''
}

function toEntry(form: FormValues): object {
  const { kind, url, authorization = '', command = '', environment = '' } = form
  if (kind === 'url') return { url, ...(authorization !== '' && { headers: { authorization } }) }
  const env = Object.fromEntries(linesOf(environment).map(splitVariable))
  return { command: linesOf(command), ...(environment.trim() !== '' && { env }) }
}

/** Verbatim: the passkey signs exactly this. */
function Confirm({
  preview: { server, how, entry, before, digest },
  onBack,
  onAdded,
}: {
  preview: Preview
  onBack: () => void
  onAdded: () => void
}): JSX.Element {
  const write = (value: unknown) => JSON.stringify(value, null, 2)
  const { command } = entry as { command?: readonly string[] }
  const put = async () => {
    const body = { entry, digest, replaces: how === 'changed' }
    await sendWithProof('PUT', `/servers/${encodeURIComponent(server)}`, body)
    showToast(`${how} ${server}`)
    onAdded()
  }
  return (
    <Form
      confirm={how === 'added' ? 'Add it' : 'Change it'}
      icon="key"
      onSubmit={put}
      onCancel={onBack}
    >
      <Notice kind="warn">
        {command === undefined
          ? `The gate will reach this address, and send it the headers below, for every call of ${server}.`
          : 'The gate will run this program on its machine, with the rights of its own user.'}
      </Notice>
      {command !== undefined && (
        <ol className="code command-words">
          {command.map((word, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: words may repeat and never move
            <li key={at}>
              <UntrustedText text={word} />
            </li>
          ))}
        </ol>
      )}
      {before === undefined ? (
        <pre className="code">
          <UntrustedText text={`${server}: ${write(entry)}`} />
        </pre>
      ) : (
        <>
          <p>A server of this name exists. It is changed:</p>
          <Diff before={write(before)} after={write(entry)} />
        </>
      )}
      <p className="muted small">Your passkey signs exactly this and nothing else.</p>
    </Form>
  )
}

/** A tool of the first list, and why its definition looks like an attack: empty if it does not. */
interface ListedTool extends ToolView {
  readonly dangers: readonly string[]
}

/** As `sluice init` begins: reading and writing pass, the rest asks a person. Nobody is asked for a call
 * of a tool that tries to steer the model. */
function suggestAction({ category, unknown, risk, dangers }: ListedTool): string {
  if (dangers.length > 0) return 'deny'
  if (unknown || risk === 'critical') return 'require_approval'
  return category === 'Read' || (category === 'Write' && risk !== 'high')
    ? 'allow'
    : 'require_approval'
}

function FirstList({ server, onClose }: { server: string; onClose: () => void }): JSX.Element {
  const [tools, setTools] = useState<readonly ListedTool[]>()
  const read = async () => {
    await post(`/servers/${encodeURIComponent(server)}/tools`)
    const [{ tools: all }, { held }] = await Promise.all([
      get<{ tools: ToolView[] }>('/tools'),
      get<PendingDefinitionsView>('/pins'),
    ])
    const dangersOf = (name: string) =>
      held.find((one) => one.server === server && one.name === name)?.dangers ?? []
    const own = all.filter((tool) => tool.server === server)
    setTools(
      own.map((tool) => ({
        ...tool,
        dangers: [...new Set(dangersOf(tool.name).map(({ kind }) => kind))],
      })),
    )
  }
  const attacks = (tools ?? []).filter(({ dangers }) => dangers.length > 0)
  const differing = (tools ?? []).filter((tool) => tool.verdict !== suggestAction(tool))
  return (
    <Dialog title={`${server} is added`} onClose={onClose} wide>
      {tools === undefined && <Form confirm="Read its tools" icon="refresh" onSubmit={read} />}
      {tools !== undefined && (
        <>
          <p>{plural(tools.length, 'tool')}, with the decision now and what is suggested.</p>
          {attacks.length > 0 && (
            <Notice kind="bad">
              {attacks.length === 1 ? '1 definition looks' : `${attacks.length} definitions look`}{' '}
              like an attack. Calls are denied until somebody has read and accepted the definition
              under Servers.
            </Notice>
          )}
          <DataTable
            label="Its tools"
            rows={tools}
            keyOf={({ name }) => name}
            columns={[
              { head: 'Tool', cell: (tool) => <FirstTool tool={tool} /> },
              {
                head: 'Class',
                cell: ({ category, risk, unknown }) => (
                  <>
                    <Category name={category} unknown={unknown} />{' '}
                    <Risk level={risk} unknown={unknown} />
                  </>
                ),
              },
              {
                head: 'Now',
                cell: ({ verdict }) => <OutcomeBadge word={toOutcomeLabel(verdict)} />,
              },
              {
                head: 'Suggested',
                cell: (tool) => <OutcomeBadge word={toOutcomeLabel(suggestAction(tool))} />,
              },
            ]}
          />
          <div className="row">
            {differing.length > 0 && (
              <Button
                kind="primary"
                onPress={() => void draftRules(server, differing).catch(complain)}
              >
                Put {plural(differing.length, 'suggestion')} into the policy editor
              </Button>
            )}
            <Button onPress={onClose}>Done</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

function FirstTool({ tool: { name, held, dangers } }: { tool: ListedTool }): JSX.Element {
  return (
    <>
      <UntrustedText text={name} className="strong" />{' '}
      {held && <span className="tag high">to review</span>}
      {dangers.length > 0 && <div className="small worse">{dangers.join(', ')}</div>}
    </>
  )
}

/** Nothing is in force until the draft is looked at and saved there. */
async function draftRules(server: string, tools: readonly ListedTool[]): Promise<void> {
  const { documents } = await get<PolicyView>('/policy')
  const document = documents.find(({ name }) => name === 'policy') ?? documents[0]
  if (document === undefined) return
  let { text } = document
  for (const tool of tools) {
    const move = { tool: `${server}/${tool.name}`, to: suggestAction(tool) }
    ;({ text } = await post<PolicyDraft>('/policy/draft', { name: document.name, text, move }))
  }
  keepDraft(document, text)
  go(`/policy${formatQuery({ document: document.name, tool: `${server}/` })}`)
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function splitVariable(line: string): [name: string, value: string] {
  const at = line.indexOf('=')
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
}
