// Adds a server: its address or its command by form, then exactly what would be reached or started, then
// the passkey, then its tools with classes, warnings and suggested rules. Only if sluice.yaml allows it.

import { type JSX, useState } from 'react'
import type {
  PendingDefinitionsView,
  PolicyDraft,
  PolicyView,
  SettingsView,
  ToolView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { type ApiError, formatQuery, get, post, toApiError } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go } from '../../route.ts'
import { sendWithProof } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Chips, TextArea, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { ErrorNotice, Loading, Notice } from '../../ui/page.tsx'
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
  const [name, setName] = useState('')
  const [kind, setKind] = useState('url')
  const [url, setUrl] = useState('')
  const [authorization, setAuthorization] = useState('')
  const [command, setCommand] = useState('')
  const [environment, setEnvironment] = useState('')
  const [error, setError] = useState<ApiError>()
  const words = linesOf(command)
  const isReady =
    NAME.test(name) && (kind === 'url' ? /^https?:\/\/\S+$/.test(url) : words.length > 0)
  const look = () => {
    if (!isReady) return
    setError(undefined)
    const env = Object.fromEntries(linesOf(environment).map(splitVariable))
    const entry =
      kind === 'url'
        ? { url, ...(authorization !== '' && { headers: { authorization } }) }
        : { command: words, ...(environment.trim() !== '' && { env }) }
    post<Preview>(`/servers/${encodeURIComponent(name)}/preview`, { entry }).then(
      onPreview,
      (fault) => setError(toApiError(fault)),
    )
  }
  return (
    <>
      <TextField label="Name" isFirst placeholder="billing" value={name} onChange={setName} />
      {name !== '' && !NAME.test(name) && (
        <Notice kind="bad">Use letters, digits, - and _ (no spaces), at most 64.</Notice>
      )}
      <Chips
        label="How it is reached"
        value={kind}
        onChange={setKind}
        choices={[
          { value: 'url', says: 'By its address' },
          { value: 'command', says: 'The gate starts it' },
        ]}
      />
      {kind === 'url' ? (
        <>
          <TextField
            label="Address"
            placeholder="https://mcp.example.com/mcp"
            value={url}
            onChange={setUrl}
            onEnter={look}
          />
          <TextField
            label="Authorization header (optional; use a variable of the gate for a key)"
            placeholder="Bearer $&#123;BILLING_TOKEN&#125;"
            value={authorization}
            onChange={setAuthorization}
            onEnter={look}
          />
        </>
      ) : (
        <>
          <TextArea
            label="Command, one word per line"
            mono
            rows={4}
            placeholder={'npx\n-y\n@modelcontextprotocol/server-memory'}
            value={command}
            onChange={setCommand}
          />
          <TextArea
            label="Environment (optional), NAME=value per line"
            mono
            rows={2}
            value={environment}
            onChange={setEnvironment}
          />
        </>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
      <div className="row">
        <Button kind="primary" isDisabled={!isReady} onPress={look}>
          See what it does
        </Button>
      </div>
    </>
  )
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
  const [error, setError] = useState<ApiError>()
  const write = (value: unknown) => JSON.stringify(value, null, 2)
  const { command } = entry as { command?: readonly string[] }
  const put = () => {
    setError(undefined)
    const path = `/servers/${encodeURIComponent(server)}`
    sendWithProof('PUT', path, { entry, digest, replaces: how === 'changed' }).then(
      () => {
        showToast(`${how} ${server}`)
        onAdded()
      },
      (fault) => setError(toApiError(fault)),
    )
  }
  return (
    <>
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
      {error !== undefined && <ErrorNotice error={error} />}
      <p className="muted small">Your passkey signs exactly this and nothing else.</p>
      <div className="row">
        <Button kind="primary" onPress={put}>
          <Icon name="key" /> {how === 'added' ? 'Add it' : 'Change it'}
        </Button>
        <Button kind="quiet" onPress={onBack}>
          Back
        </Button>
      </div>
    </>
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
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const read = async () => {
    setError(undefined)
    setBusy(true)
    try {
      await post(`/servers/${encodeURIComponent(server)}/tools`)
      const [{ tools: all }, { held }] = await Promise.all([
        get<{ tools: ToolView[] }>('/tools'),
        get<PendingDefinitionsView>('/pins'),
      ])
      const dangersOf = (name: string) =>
        held.find((one) => one.server === server && one.name === name)?.dangers ?? []
      setTools(
        all
          .filter((tool) => tool.server === server)
          .map((tool) => ({
            ...tool,
            dangers: [...new Set(dangersOf(tool.name).map(({ kind }) => kind))],
          })),
      )
    } catch (fault) {
      setError(toApiError(fault))
    } finally {
      setBusy(false)
    }
  }
  const attacks = (tools ?? []).filter(({ dangers }) => dangers.length > 0)
  const differing = (tools ?? []).filter((tool) => tool.verdict !== suggestAction(tool))
  return (
    <Dialog title={`${server} is added`} onClose={onClose} wide>
      {error !== undefined && <ErrorNotice error={error} />}
      {tools === undefined && (
        <div className="row">
          <Button kind="primary" isDisabled={busy} onPress={() => void read()}>
            <Icon name="refresh" /> {busy ? 'Reading its tools…' : 'Read its tools'}
          </Button>
        </div>
      )}
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
          <table className="table">
            <thead>
              <tr>
                <th>Tool</th>
                <th>Class</th>
                <th>Now</th>
                <th>Suggested</th>
              </tr>
            </thead>
            <tbody>
              {tools.map((tool) => (
                <tr key={tool.name}>
                  <td className="strong">
                    <UntrustedText text={tool.name} />{' '}
                    {tool.held && <span className="tag high">to review</span>}
                    {tool.dangers.length > 0 && (
                      <div className="small tool-dangers">{tool.dangers.join(', ')}</div>
                    )}
                  </td>
                  <td>
                    <Category name={tool.category} unknown={tool.unknown} />{' '}
                    <Risk level={tool.risk} unknown={tool.unknown} />
                  </td>
                  <td>
                    <OutcomeBadge word={toOutcomeLabel(tool.verdict)} />
                  </td>
                  <td>
                    <OutcomeBadge word={toOutcomeLabel(suggestAction(tool))} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <div className="row">
            <Button
              kind="primary"
              isDisabled={differing.length === 0}
              onPress={() => void draftRules(server, differing).catch(complain)}
            >
              Put {plural(differing.length, 'suggestion')} into the policy editor
            </Button>
            <Button onPress={onClose}>Done</Button>
          </div>
        </>
      )}
    </Dialog>
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
