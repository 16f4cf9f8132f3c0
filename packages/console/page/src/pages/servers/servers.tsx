// Servers: the state of each, its tools by category and risk, and changed definitions that are
// pending review.

import { type JSX, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type {
  Overview,
  PendingDefinitionsView,
  ServersView,
  ServerView,
  ToolView,
} from '../../../../src/contract/contract.ts'
import { formatQuery, post } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OUTCOME_LABELS, OutcomeBadge } from '../../ui/marks.tsx'
import { Notice, Page } from '../../ui/page.tsx'
import { type DataColumn, DataTable, Facts, Loaded, Panel } from '../../ui/panel.tsx'
import { REFRESH_MS as CALLS_REFRESH_MS, PERIODS } from '../../ui/periods.ts'
import { GateText, TextLine, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { count, plural } from '../../ui/words.ts'
import { ServerConnections } from './connections.tsx'
import { PendingDefinitions } from './pending.tsx'
import { Sessions } from './sessions.tsx'
import { ToolDrawer } from './tool.tsx'
import { Tools } from './tools.tsx'
import './servers.css'

const AddServer = lazy(async () => ({ default: (await import('./add-server.tsx')).AddServer }))
const ConnectClient = lazy(async () => ({
  default: (await import('./connect-client.tsx')).ConnectClient,
}))

const REFRESH_MS = 3_000
/**
 * Ten thousand tools are more than a megabyte: fetched again when their number changes, or at this
 * interval.
 */
const TOOLS_REFRESH_MS = 60_000

export function Servers(): JSX.Element {
  const servers = useResource<ServersView>('/servers', REFRESH_MS)
  const pins = useResource<PendingDefinitionsView>('/pins', REFRESH_MS)
  const tools = useResource<{ tools: ToolView[] }>('/tools', TOOLS_REFRESH_MS)
  const { rest, query } = useRoute()
  const me = useMe()
  const chosen = rest[0]
  const list = servers.value?.servers ?? []
  const isShown = (server: string) => chosen === undefined || server === chosen
  const pending = (pins.value?.held ?? []).filter(({ server }) => isShown(server))
  const open = query.get('tool')
  const known = list
    .map(({ name, tools, held, new: fresh }) => `${name} ${tools} ${held} ${fresh}`)
    .join()
  const seen = useRef('')
  useEffect(() => {
    if (seen.current !== '' && seen.current !== known) tools.reload()
    seen.current = known
  }, [known, tools.reload])
  const shown = useMemo(
    () =>
      (tools.value?.tools ?? []).filter(({ server }) => chosen === undefined || server === chosen),
    [tools.value, chosen],
  )
  return (
    <Page
      title={chosen ?? 'Servers'}
      lead={<Lead chosen={chosen} />}
      side={
        chosen === undefined &&
        mayAct(me, 'admin') && (
          <>
            <Button onPress={() => setQuery({ add: 'client' }, 'push')}>
              <Icon name="plus" /> Connect a client
            </Button>
            <Button onPress={() => setQuery({ add: 'server' }, 'push')}>
              <Icon name="plus" /> Add a server
            </Button>
          </>
        )
      }
    >
      <Loaded of={servers}>{(view) => <Warnings view={view} />}</Loaded>
      {pending.length > 0 && (
        <PendingDefinitions held={pending} more={pins.value?.more ?? 0} reload={pins.reload} />
      )}
      {chosen === undefined && list.length > 0 && (
        <div className="card">
          <DataTable
            label="Servers"
            columns={listColumns(servers.reload)}
            rows={list}
            keyOf={({ name }) => name}
          />
        </div>
      )}
      {list
        .filter(({ name }) => name === chosen)
        .map((server) => (
          <WholeServer key={server.name} server={server} reload={servers.reload} />
        ))}
      {chosen === undefined && <Sessions />}
      <Tools tools={shown} loading={tools.value === undefined} server={chosen} />
      <Suspense>
        {query.get('add') === 'server' && <AddServer onClose={() => setQuery({ add: '' })} />}
        {query.get('add') === 'client' && (
          <ConnectClient servers={list} onClose={() => setQuery({ add: '' })} />
        )}
      </Suspense>
      {open !== null && <ToolDrawer name={open} onClose={() => setQuery({ tool: '' })} />}
    </Page>
  )
}

function Lead({ chosen }: { chosen: string | undefined }): JSX.Element {
  if (chosen === undefined)
    return <>Where calls go, what each server offers, and definitions to review.</>
  return (
    <span className="row">
      <Link to="/servers">All servers</Link>
      <Link to={`/ledger${formatQuery({ server: chosen })}`}>Its calls</Link>
      <Link to={`/policy${formatQuery({ tool: `${chosen}/` })}`}>Its rules</Link>
    </span>
  )
}

/** Servers that wait to be accepted at a terminal, and processes that are not isolated. */
function Warnings({ view }: { view: ServersView }): JSX.Element {
  return (
    <>
      {view.pending.map(({ name, how, entry, help }) => (
        <Notice key={name} kind="warn">
          sluice.yaml has a server that was {how}, <span className="strong">{name}</span>:{' '}
          <UntrustedText text={entry} className="mono" />. Not in force yet:{' '}
          <GateText text={help} />.
        </Notice>
      ))}
      {view.servers.some(({ sandbox }) => sandbox === 'unconfined') && (
        <Notice kind="warn">
          <UntrustedText text={view.unconfined} />
        </Notice>
      )}
    </>
  )
}

const STATES: Readonly<Record<ServerView['state'], string>> = {
  up: 'up',
  idle: '',
  starting: 'starting',
  failing: 'failing',
  'needs login': 'failing',
  frozen: 'failing',
}

function State({ server: { state } }: { server: ServerView }): JSX.Element {
  return (
    <span className="row line">
      <span className={`dot ${STATES[state]}`} aria-hidden="true" /> {state}
    </span>
  )
}

function listColumns(reload: () => void): DataColumn<ServerView>[] {
  return [
    {
      head: 'Server',
      className: 'server-cell',
      cell: ({ name, where }) => (
        <>
          <Link to={pathTo('servers', name)} className="strong">
            {name}
          </Link>
          <TextLine text={where} className="mono small muted" />
        </>
      ),
    },
    { head: 'State', cell: (server) => <State server={server} /> },
    {
      head: 'Tools',
      className: 'right num',
      cell: ({ tools, listed, new: fresh }) => (
        <>
          {fresh > 0 && <span className="mark new">{fresh} new</span>}{' '}
          {tools > 0 || listed ? count(tools) : <span className="muted">not read yet</span>}
        </>
      ),
    },
    {
      head: 'Held',
      className: 'right num',
      cell: ({ held }) => held > 0 && <OutcomeBadge word="ask" says={count(held)} />,
    },
    { head: 'Calls, 24 h', cell: ({ name }) => <Calls server={name} /> },
    {
      head: 'Last error',
      className: 'server-cell small',
      cell: ({ why }) => why !== '' && <GateText text={why} />,
    },
    {
      head: '',
      className: 'right',
      cell: (server) => (
        <>
          <ToolActions server={server} reload={reload} />
          <FreezeButton target={{ scope: 'server', id: server.name }} />
        </>
      ),
    },
  ]
}

/** By the ledger, of all gates that share it. */
function Calls({ server }: { server: string }): JSX.Element {
  const { value } = useResource<Overview>(`/overview?lengthMs=${PERIODS[1].ms}`, CALLS_REFRESH_MS)
  const calls = value?.servers.find(({ name }) => name === server)?.counts ?? {}
  const words = OUTCOME_LABELS.filter((word) => (calls[word] ?? 0) > 0)
  return (
    <span className="row">
      {value !== undefined && words.length === 0 && 0}
      {words.map((word) => (
        <span key={word}>
          <OutcomeBadge word={word} bare says={count(calls[word] ?? 0)} />
          <span className="visually-hidden">{word}</span>
        </span>
      ))}
    </span>
  )
}

function WholeServer({ server, reload }: { server: ServerView; reload: () => void }): JSX.Element {
  const { name, where, sandbox, credential, refusedHosts, state, why } = server
  return (
    <Panel title="State" isSmall side={<FreezeButton target={{ scope: 'server', id: name }} />}>
      <Facts
        of={{
          State: <State server={server} />,
          Reached: <UntrustedText text={where} className="mono" />,
          Sandbox: sandbox !== '' && sandbox,
          Credential: credential !== '' && credential,
          Sessions: `${count(server.sessions)}, ${plural(server.openRequests, 'call')} in flight`,
          'Calls, 24 h': <Calls server={name} />,
        }}
      />
      {refusedHosts.length > 0 && (
        <Notice kind="warn">
          Refused hosts: <UntrustedText text={refusedHosts.join(', ')} />.{' '}
          <span className="mono">sluice server lock {name} --add</span> shows them for review.
        </Notice>
      )}
      {why !== '' && (
        <Notice kind={state === 'frozen' ? 'warn' : 'bad'}>
          <GateText text={why} />
        </Notice>
      )}
      <ToolActions server={server} reload={reload} />
      <ServerConnections server={name} />
    </Panel>
  )
}

/** Reading the list starts the server, as a client would: also one that has failed. */
function ToolActions({
  server: { name, listed, state, new: fresh },
  reload,
}: {
  server: ServerView
  reload: () => void
}): JSX.Element | null {
  const [busy, setBusy] = useState(false)
  const canAct = mayAct(useMe(), 'policy-manager')
  const isFailing = state === 'failing'
  if (!canAct || (listed && fresh === 0 && !isFailing)) return null
  const path = `/servers/${encodeURIComponent(name)}`
  const read = () => {
    setBusy(true)
    post<{ tools: number }>(`${path}/tools`)
      .then(({ tools }) => showToast(`${name} has ${plural(tools, 'tool')}`), complain)
      .finally(() => {
        setBusy(false)
        reload()
      })
  }
  return (
    <span className="row">
      {(!listed || isFailing) && (
        <Button onPress={read} isDisabled={busy}>
          {busy ? 'Reading…' : isFailing ? 'Try again' : 'Read its tools now'}
          <span className="visually-hidden"> ({name})</span>
        </Button>
      )}
      {fresh > 0 && (
        <>
          <Link to={`${pathTo('servers', name)}?show=new`}>Show new tools</Link>
          <Button kind="quiet" onPress={() => void post(`${path}/seen`).then(reload, complain)}>
            Mark as seen<span className="visually-hidden"> ({name})</span>
          </Button>
        </>
      )}
    </span>
  )
}
