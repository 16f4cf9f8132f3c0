// The tools of all servers or of one: searched, filtered and sorted, with the decision on each. What is
// shown is in the address.

import { type JSX, useMemo } from 'react'
import type { ToolView } from '../../../../src/contract/contract.ts'
import { go, setQuery, useRoute } from '../../route.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { Empty } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { NameLine } from '../../ui/text.tsx'
import { count, date } from '../../ui/words.ts'

const CATEGORIES = ['Read', 'Write', 'Execute', 'Destructive', 'Financial']
const RISKS = ['low', 'medium', 'high', 'critical']
const STATES = [
  { value: '', says: 'All tools' },
  { value: 'new', says: 'New' },
  { value: 'held', says: 'Held' },
]
const NAMES = ['q', 'category', 'show', 'sort']
const SORTS: Readonly<Record<string, (tool: ToolView) => string | number>> = {
  name: (tool) => tool.name,
  server: (tool) => tool.server,
  category: (tool) => CATEGORIES.indexOf(tool.category),
  risk: (tool) => -RISKS.indexOf(tool.risk),
  verdict: (tool) => tool.verdict,
}

interface ToolsProps {
  readonly tools: readonly ToolView[]
  readonly loading: boolean
  readonly server: string | undefined
}

export function Tools({ tools, loading, server }: ToolsProps): JSX.Element {
  const { query } = useRoute()
  const [q = '', category = '', show = '', sort = ''] = NAMES.map((name) => query.get(name) ?? '')
  const shown = useMemo(() => {
    const wanted = q.toLowerCase()
    const matches = tools.filter(
      (tool) =>
        (category === '' || tool.category === category) &&
        (show !== 'new' || tool.newMs !== null) &&
        (show !== 'held' || tool.held) &&
        `${tool.server}/${tool.name}`.toLowerCase().includes(wanted),
    )
    const of = SORTS[sort]
    return of === undefined ? matches : matches.sort((one, other) => compare(of(one), of(other)))
  }, [tools, q, category, show, sort])
  const columns = useMemo(
    () => listColumns(sort).filter(({ key }) => key !== 'server' || server === undefined),
    [sort, server],
  )
  const isFiltered = q !== '' || category !== '' || show !== ''
  return (
    <section className="card tools" aria-label="Tools">
      <div className="row tools-head">
        <h2>
          {server === undefined ? 'Tools' : `Tools of ${server}`}{' '}
          <span className="muted num">
            {isFiltered && `${count(shown.length)} of `}
            {count(tools.length)}
          </span>
        </h2>
        <span className="spacer" />
        <SelectField
          label="Show"
          value={show}
          onChange={(value) => setQuery({ show: value })}
          choices={STATES}
        />
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
          {loading
            ? undefined
            : isFiltered
              ? 'No tool matches the search.'
              : 'Tools are known once a client has listed them, or by “Read its tools now”.'}
        </Empty>
      ) : (
        <Table
          label="Tools"
          columns={columns}
          items={shown}
          px={34}
          keyOf={toToolId}
          onOpen={openTool}
          openKey={query.get('tool') ?? undefined}
          className="tools-scroll"
        />
      )}
    </section>
  )
}

function listColumns(sort: string): Column<ToolView>[] {
  const column = (key: string, head: string, width: string, cell: Column<ToolView>['cell']) => ({
    key,
    head,
    width,
    cell,
    isSorted: key === sort ? ('ascending' as const) : undefined,
    onSort: () => setQuery({ sort: key === sort ? '' : key }),
  })
  return [
    column('name', 'Tool', 'minmax(160px, 1fr)', (tool) => (
      <>
        <NameLine text={tool.name} className="strong" />
        {tool.newMs !== null && (
          <span className="mark new" title={`New since ${date(tool.newMs)}`}>
            new
          </span>
        )}
      </>
    )),
    column('server', 'Server', '160px', (tool) => <span className="muted cut">{tool.server}</span>),
    column('category', 'Category', 'minmax(96px, 178px)', (tool) => (
      <Category name={tool.category} unknown={tool.unknown} />
    )),
    {
      ...column('risk', 'Risk', '120px', ({ risk, unknown }) => (
        <Risk level={risk} unknown={unknown} />
      )),
      isExtra: true,
    },
    column('verdict', 'Decision', '140px', (tool) => <Decision tool={tool} />),
  ]
}

function Decision({ tool }: { tool: ToolView }): JSX.Element {
  if (tool.refusedBy !== null) return <OutcomeBadge word="deny" says="Definition refused" />
  if (tool.held) return <OutcomeBadge word="ask" says="Definition held" />
  if (tool.verdict === 'depends') return <OutcomeBadge word="limited" says="Depends" />
  return <OutcomeBadge word={toOutcomeLabel(tool.verdict)} />
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : one > other ? 1 : 0
}

const toToolId = ({ server, name }: ToolView): string => `${server}/${name}`

function openTool(tool: ToolView): void {
  const query = new URLSearchParams(location.search)
  query.set('tool', toToolId(tool))
  go(`${location.pathname}?${query}`)
}
