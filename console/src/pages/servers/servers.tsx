// Servers: the state of each, its tools by category and risk, and changed definitions that are
// pending review.

import { type JSX, memo, useEffect, useMemo, useRef } from 'react'
import type {
  PendingDefinitionView,
  PendingServerView,
  ServerView,
  ToolView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { FreezeButton } from '../../freeze.tsx'
import { useResource } from '../../resource.ts'
import { go, pathTo, setQuery, useRoute } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icons.tsx'
import { type RowOf, VirtualList } from '../../ui/long-list.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel, WORDS } from '../../ui/marks.tsx'
import { Empty, ErrorNotice, Loading, Notice, PageHead } from '../../ui/page.tsx'
import { SaidLine, UntrustedText } from '../../ui/said.tsx'
import { count, plural } from '../../ui/words.ts'
import { PendingDefinitions } from './pending.tsx'
import { ToolDrawer } from './tool.tsx'
import './servers.css'

const REFRESH_MS = 3_000
/**
 * Ten thousand tools are more than a megabyte: fetched again when their number changes, or at this
 * interval.
 */
const TOOLS_REFRESH_MS = 60_000
const CATEGORIES = ['Read', 'Write', 'Execute', 'Destructive', 'Financial']

export function Servers(): JSX.Element {
  const servers = useResource<{
    servers: ServerView[]
    pending: PendingServerView[]
  }>('/servers', REFRESH_MS)
  const pins = useResource<{ held: PendingDefinitionView[] }>('/pins', REFRESH_MS)
  const tools = useResource<{ tools: ToolView[] }>('/tools', TOOLS_REFRESH_MS)
  const { rest, query } = useRoute()
  const chosen = rest[0]
  const list = servers.value?.servers ?? []
  const held = pins.value?.held ?? []
  const open = query.get('tool')
  const known = list.map((server) => `${server.name} ${server.tools} ${server.held}`).join()
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
      <PageHead
        title="Servers"
        lead="Where calls go, what each server offers, and definitions that wait for you."
      />
      <div className="page-body stack">
        {servers.error !== undefined && (
          <ErrorNotice error={servers.error} again={servers.reload} />
        )}
        {servers.value === undefined && servers.error === undefined && <Loading />}
        {(servers.value?.pending ?? []).map(({ name, how, entry }) => (
          <Notice key={name} kind="warn">
            sluice.yaml has a server that was {how}, <span className="strong">{name}</span>:{' '}
            <UntrustedText text={entry} className="mono" />. It waits for{' '}
            <span className="mono">sluice server accept {name}</span> at a terminal.
          </Notice>
        ))}
        <ul className="server-grid">
          {list.map((server) => (
            <li key={server.name}>
              <Server server={server} current={server.name === chosen} />
            </li>
          ))}
        </ul>
        {held.length > 0 && <PendingDefinitions held={held} reload={pins.reload} />}
        <Tools tools={shown} loading={tools.value === undefined} server={chosen} />
      </div>
      {open !== null && <ToolDrawer name={open} onClose={() => setQuery({ tool: '' })} />}
    </div>
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

function Server({ server, current }: { server: ServerView; current: boolean }): JSX.Element {
  return (
    <div className="card server" data-current={current}>
      <div className="row spread">
        <Link
          to={current ? '/servers' : pathTo('servers', server.name)}
          className="server-name"
          current={current}
        >
          {server.name}
        </Link>
        <span className="row small">
          <span className={`dot ${STATES[server.state]}`} aria-hidden="true" /> {server.state}
          <FreezeButton target={{ scope: 'server', id: server.name }} />
        </span>
      </div>
      <SaidLine text={server.where} className="mono small muted" />
      {server.why !== '' && (
        <Notice kind={server.state === 'frozen' ? 'warn' : 'bad'}>
          <UntrustedText text={server.why} />
        </Notice>
      )}
      <div className="row small muted num">
        <span>{plural(server.tools, 'tool')}</span>
        <span>{plural(server.sessions, 'session')}</span>
        <span>{server.openRequests} open</span>
        {server.held > 0 && (
          <span className="mark ask">
            <Icon name="ask" size={12} /> {server.held} held
          </span>
        )}
      </div>
      <div className="row small">
        {WORDS.filter((word) => (server.calls[word] ?? 0) > 0).map((word) => (
          <span key={word} className="row">
            <OutcomeBadge word={word} bare says={count(server.calls[word] ?? 0)} />
            <span className="visually-hidden">{word}</span>
          </span>
        ))}
      </div>
    </div>
  )
}

function Tools({
  tools,
  loading,
  server,
}: {
  tools: readonly ToolView[]
  loading: boolean
  server: string | undefined
}): JSX.Element {
  const { query } = useRoute()
  const [q, category] = [query.get('q') ?? '', query.get('category') ?? '']
  const shown = useMemo(() => {
    const wanted = q.toLowerCase()
    return tools.filter(
      (tool) =>
        (category === '' || tool.category === category) &&
        `${tool.server}/${tool.name}`.toLowerCase().includes(wanted),
    )
  }, [tools, q, category])
  return (
    <section className="card tools" aria-label="Tools">
      <div className="tools-head">
        <h2>
          {server === undefined ? 'Tools' : `Tools of ${server}`}{' '}
          <span className="muted num">{count(shown.length)}</span>
        </h2>
        <span className="spacer" />
        <SelectField
          label="Category"
          value={category}
          onChange={(value) => setQuery({ category: value })}
          choices={[
            { value: '', says: 'All categories' },
            ...CATEGORIES.map((name) => ({ value: name, says: name })),
          ]}
        />
        <TextField
          label="Search tools"
          quiet
          className="search"
          placeholder="Search tools"
          value={q}
          onChange={(value) => setQuery({ q: value })}
        />
      </div>
      {shown.length === 0 ? (
        <Empty icon="servers" title={loading ? 'Loading…' : 'No tools'}>
          {loading ? undefined : 'A server’s tools are known once a client has listed them.'}
        </Empty>
      ) : (
        <VirtualList
          items={shown}
          px={34}
          keyOf={toToolId}
          Row={ToolRow}
          onOpen={openTool}
          className="tools-scroll"
        />
      )}
    </section>
  )
}

const toToolId = ({ server, name }: ToolView): string => `${server}/${name}`

function openTool(tool: ToolView): void {
  const query = new URLSearchParams(location.search)
  query.set('tool', toToolId(tool))
  go(`${location.pathname}?${query}`)
}

const ToolRow = memo(function ToolRow({ item: tool, onOpen }: RowOf<ToolView>): JSX.Element {
  return (
    <button type="button" className="tool-row" onClick={() => onOpen(tool)}>
      <SaidLine text={tool.name} className="strong" />
      <span className="muted cut">{tool.server}</span>
      <span>
        <Category name={tool.category} unknown={tool.unknown} />
      </span>
      <span>
        <Risk level={tool.risk} unknown={tool.unknown} />
      </span>
      <span>
        {tool.refusedBy !== null ? (
          <OutcomeBadge word="deny" says="Definition refused" />
        ) : tool.held ? (
          <OutcomeBadge word="ask" says="Definition held" />
        ) : tool.verdict === 'depends' ? (
          <OutcomeBadge word="limited" says="Depends" />
        ) : (
          <OutcomeBadge word={toOutcomeLabel(tool.verdict)} />
        )}
      </span>
    </button>
  )
})
