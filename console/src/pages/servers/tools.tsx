// The tools of all servers or of one: searched, filtered and sorted, with the decision on each. What is
// shown is in the address.

import { type JSX, memo, useMemo } from 'react'
import type { ToolView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { go, setQuery, useRoute } from '../../route.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { type RowOf, VirtualList } from '../../ui/long-list.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { Empty } from '../../ui/page.tsx'
import { TextLine } from '../../ui/text.tsx'
import { count, date } from '../../ui/words.ts'

const CATEGORIES = ['Read', 'Write', 'Execute', 'Destructive', 'Financial']
const RISKS = ['low', 'medium', 'high', 'critical']
const STATES = [
  { value: '', says: 'All tools' },
  { value: 'new', says: 'New' },
  { value: 'held', says: 'Held' },
]
const COLUMNS = [
  { key: 'name', says: 'Tool', of: (tool: ToolView) => tool.name },
  { key: 'server', says: 'Server', of: (tool: ToolView) => tool.server },
  { key: 'category', says: 'Category', of: (tool: ToolView) => CATEGORIES.indexOf(tool.category) },
  { key: 'risk', says: 'Risk', of: (tool: ToolView) => -RISKS.indexOf(tool.risk) },
  { key: 'verdict', says: 'Decision', of: (tool: ToolView) => tool.verdict },
] as const

export function Tools({
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
  const [show, sort] = [query.get('show') ?? '', query.get('sort') ?? '']
  const shown = useMemo(() => {
    const wanted = q.toLowerCase()
    const matches = tools.filter(
      (tool) =>
        (category === '' || tool.category === category) &&
        (show !== 'new' || tool.newMs !== null) &&
        (show !== 'held' || tool.held) &&
        `${tool.server}/${tool.name}`.toLowerCase().includes(wanted),
    )
    const of = COLUMNS.find(({ key }) => key === sort)?.of
    return of === undefined ? matches : matches.sort((one, other) => compare(of(one), of(other)))
  }, [tools, q, category, show, sort])
  const isFiltered = q !== '' || category !== '' || show !== ''
  return (
    <section className="card tools" aria-label="Tools">
      <div className="tools-head">
        <h2>
          {server === undefined ? 'Tools' : `Tools of ${server}`}{' '}
          <span className="muted num">{count(shown.length)}</span>
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
        <VirtualList
          items={shown}
          px={34}
          keyOf={toToolId}
          Row={ToolRow}
          onOpen={openTool}
          className="tools-scroll"
          head={<Heads sort={sort} />}
        />
      )}
    </section>
  )
}

function Heads({ sort }: { sort: string }): JSX.Element {
  return (
    <div className="tool-row tool-columns">
      {COLUMNS.map(({ key, says }) => (
        <button
          key={key}
          type="button"
          aria-pressed={key === sort}
          title={`Sort by ${says.toLowerCase()}`}
          onClick={() => setQuery({ sort: key === sort ? '' : key })}
        >
          {says}
          {key === sort && ' ↓'}
        </button>
      ))}
    </div>
  )
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

const ToolRow = memo(function ToolRow({ item: tool, onOpen }: RowOf<ToolView>): JSX.Element {
  return (
    <button type="button" className="tool-row" onClick={() => onOpen(tool)}>
      <span className="row tool-name">
        <TextLine text={tool.name} className="strong" />
        {tool.newMs !== null && (
          <span className="mark new" title={`New since ${date(tool.newMs)}`}>
            new
          </span>
        )}
      </span>
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
