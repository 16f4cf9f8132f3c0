// Servers: the state of each, its tools by category and risk, and changed definitions that are
// pending review.

import { type JSX, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type {
  PendingDefinitionsView,
  ServersView,
  ServerView,
  ToolView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { formatQuery, post } from '../../api.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { pathTo, setQuery, useRoute } from '../../route.ts'
import { mayAct, useMe } from '../../session.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { OUTCOME_LABELS, OutcomeBadge } from '../../ui/marks.tsx'
import { ErrorNotice, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { GateText, TextLine, UntrustedText } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'
import { count, plural } from '../../ui/words.ts'
import { PendingDefinitions } from './pending.tsx'
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
    <div className="page">
      <PageHead title={chosen ?? 'Servers'} lead={<Lead chosen={chosen} />}>
        {chosen === undefined && mayAct(me, 'admin') && (
          <>
            <Button onPress={() => setQuery({ add: 'client' }, 'push')}>
              <Icon name="plus" /> Connect a client
            </Button>
            <Button onPress={() => setQuery({ add: 'server' }, 'push')}>
              <Icon name="plus" /> Add a server
            </Button>
          </>
        )}
      </PageHead>
      <div className="page-body stack">
        {servers.error !== undefined && (
          <ErrorNotice error={servers.error} again={servers.reload} />
        )}
        {servers.value === undefined && servers.error === undefined && <Loading />}
        {servers.value !== undefined && <Warnings view={servers.value} />}
        {pending.length > 0 && (
          <PendingDefinitions held={pending} more={pins.value?.more ?? 0} reload={pins.reload} />
        )}
        <ul className="server-grid">
          {list
            .filter(({ name }) => isShown(name))
            .map((server) => (
              <li key={server.name}>
                <Server server={server} current={server.name === chosen} reload={servers.reload} />
              </li>
            ))}
        </ul>
        <Tools tools={shown} loading={tools.value === undefined} server={chosen} />
      </div>
      <Suspense>
        {query.get('add') === 'server' && <AddServer onClose={() => setQuery({ add: '' })} />}
        {query.get('add') === 'client' && (
          <ConnectClient servers={list} onClose={() => setQuery({ add: '' })} />
        )}
      </Suspense>
      {open !== null && <ToolDrawer name={open} onClose={() => setQuery({ tool: '' })} />}
    </div>
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
      {view.pending.map(({ name, how, entry }) => (
        <Notice key={name} kind="warn">
          sluice.yaml has a server that was {how}, <span className="strong">{name}</span>:{' '}
          <UntrustedText text={entry} className="mono" />. It waits for{' '}
          <span className="mono">sluice server accept {name}</span> at a terminal.
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

function Server({
  server,
  current,
  reload,
}: {
  server: ServerView
  current: boolean
  reload: () => void
}): JSX.Element {
  return (
    <div className="card server" data-current={current}>
      <div className="row spread server-head">
        <Link to={pathTo('servers', server.name)} className="server-name" current={current}>
          {server.name}
        </Link>
        <span className="row small">
          <span className={`dot ${STATES[server.state]}`} aria-hidden="true" /> {server.state}
          <FreezeButton target={{ scope: 'server', id: server.name }} />
        </span>
      </div>
      <TextLine text={server.where} className="mono small muted" />
      {server.sandbox !== '' && (
        <TextLine text={`Sandbox: ${server.sandbox}`} className="small muted" />
      )}
      {server.credential !== '' && <TextLine text={server.credential} className="small muted" />}
      {server.refusedHosts.length > 0 && (
        <Notice kind="warn">
          Refused hosts: <UntrustedText text={server.refusedHosts.join(', ')} />.{' '}
          <span className="mono">sluice server lock {server.name} --add</span> shows them for
          review.
        </Notice>
      )}
      {server.why !== '' && (
        <Notice kind={server.state === 'frozen' ? 'warn' : 'bad'}>
          <GateText text={server.why} />
        </Notice>
      )}
      <div className="row small muted num">
        <span>{plural(server.tools, 'tool')}</span>
        <span>{plural(server.sessions, 'session')}</span>
        <span>{server.openRequests} in flight</span>
        {server.held > 0 && (
          <span className="mark ask">
            <Icon name="ask" size={12} /> {server.held} held
          </span>
        )}
        {server.new > 0 && <span className="mark new">{server.new} new</span>}
      </div>
      <ToolActions server={server} reload={reload} />
      <div className="row small" title="Calls since the gate started">
        {OUTCOME_LABELS.some((word) => (server.calls[word] ?? 0) > 0) && (
          <span className="muted">since start</span>
        )}
        {OUTCOME_LABELS.filter((word) => (server.calls[word] ?? 0) > 0).map((word) => (
          <span key={word} className="row">
            <OutcomeBadge word={word} bare says={count(server.calls[word] ?? 0)} />
            <span className="visually-hidden">{word}</span>
          </span>
        ))}
      </div>
    </div>
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
    <div className="row small">
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
    </div>
  )
}
