// What the document decides for each tool: its class, decision, condition and limits, and its calls of the last day. The
// decision is changed by a menu, which edits the text; a rule is shown in the text by a click on its row.

import { type JSX, useMemo } from 'react'
import type { BoardTool, Overview, PolicyDraft } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { Icon } from '../../ui/icons.tsx'
import { Category, OutcomeBadge, Risk, toOutcomeLabel } from '../../ui/marks.tsx'
import { MenuButton } from '../../ui/menu.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { NameLine, TextLine } from '../../ui/text.tsx'
import { count } from '../../ui/words.ts'
import type { RuleMove } from './draft.ts'

const DECISIONS = [
  { action: 'allow', says: 'Allow' },
  { action: 'require_approval', says: 'Ask' },
  { action: 'deny', says: 'Deny' },
  { action: 'hide', says: 'Hide' },
] as const

const DAY = { lengthMs: 86_400_000, top: 1_000 }

type Board = NonNullable<PolicyDraft['board']>

/** A tool, or all tools of a class. */
interface PolicyRow {
  readonly id: string
  readonly server: string
  readonly name: string
  readonly category: string
  readonly unknown: boolean
  readonly risk: string | null
  readonly decision: string
  /** Not all calls are decided alike. */
  readonly condition: string
  readonly limits: readonly string[]
  readonly guardrails: readonly string[]
  /** The edit that gives it another decision. */
  readonly move: (to: string) => RuleMove
}

interface ToolTableProps {
  readonly board: Board
  readonly filter: string
  readonly mayMove: boolean
  readonly onMove: (move: RuleMove) => void
  /** Tries a call of `<server>/<tool>` under the text. */
  readonly onTry: (tool: string) => void
  /** Shows where the text has it. */
  readonly onShow: (name: string) => void
}

export function ToolTable(props: ToolTableProps): JSX.Element {
  const { board, filter, mayMove, onMove, onTry, onShow } = props
  const common = useMemo(() => findCommon(board.tools), [board])
  const day = useResource<Overview>(`/overview${formatQuery(DAY)}`).value
  const calls = useMemo(
    () => new Map((day?.tools ?? []).map((tool) => [tool.name, tool.calls])),
    [day],
  )
  const rows = useMemo(() => {
    const wanted = filter.toLowerCase()
    const tools = board.tools.map(toRow).sort(byServer)
    return [...listCategories(board), ...tools].filter(({ id }) =>
      id.toLowerCase().includes(wanted),
    )
  }, [board, filter])
  const columns = useMemo(
    () => listColumns({ calls, common, onMove: mayMove ? onMove : undefined, onTry }),
    [calls, common, mayMove, onMove, onTry],
  )
  return (
    <section className="card tool-table" aria-label="Decisions">
      {common.length > 0 && (
        <p className="small tool-table-head">
          <Icon name="shield" size={12} /> Every tool is under: <b>{common.join(', ')}</b>
        </p>
      )}
      <Table
        label="What is decided for each tool"
        columns={columns}
        items={rows}
        px={38}
        keyOf={({ id }) => id}
        onOpen={({ server, name, category }) => onShow(server === '' ? category : name)}
        className="policy-rows"
      />
    </section>
  )
}

interface ColumnParts {
  /** Of the last day, by tool. */
  readonly calls: ReadonlyMap<string, number>
  /** Guardrails of every tool. */
  readonly common: readonly string[]
  readonly onMove: ((move: RuleMove) => void) | undefined
  readonly onTry: (tool: string) => void
}

function listColumns({ calls, common, onMove, onTry }: ColumnParts): Column<PolicyRow>[] {
  return [
    {
      key: 'tool',
      head: 'Tool',
      width: 'minmax(180px, 2fr)',
      cell: ({ server, name }) => (
        <NameLine text={server === '' ? name : `${server}/${name}`} className="strong" />
      ),
    },
    {
      key: 'class',
      head: 'Class',
      width: '178px',
      isExtra: true,
      cell: ({ server, category, unknown, risk }) =>
        server !== '' && (
          <>
            <Category name={category} unknown={unknown} />
            {(risk === 'high' || risk === 'critical') && <Risk level={risk} unknown={unknown} />}
          </>
        ),
    },
    {
      key: 'decision',
      head: 'Decision',
      width: '112px',
      cell: (row) => <Decision row={row} onMove={onMove} onTry={onTry} />,
    },
    {
      key: 'rule',
      head: 'Condition, limits',
      width: 'minmax(120px, 1.6fr)',
      cell: ({ condition, limits, guardrails }) => (
        <TextLine
          text={[
            condition.replaceAll('args.', '').replaceAll('require_approval', 'ask'),
            ...limits,
            ...guardrails.filter((name) => !common.includes(name)).map((name) => `⛊ ${name}`),
          ]
            .filter(Boolean)
            .join(' · ')}
          className="small muted"
        />
      ),
    },
    {
      key: 'calls',
      head: 'Calls, 24 h',
      width: '76px',
      isNumber: true,
      isExtra: true,
      cell: ({ id, server }) =>
        server !== '' && <span className="num">{count(calls.get(id) ?? 0)}</span>,
    },
  ]
}

interface DecisionProps {
  readonly row: PolicyRow
  readonly onMove: ColumnParts['onMove']
  readonly onTry: ColumnParts['onTry']
}

function Decision({ row, onMove, onTry }: DecisionProps): JSX.Element {
  const { decision, condition, id, server, move } = row
  const says = `${DECISIONS.find(({ action }) => action === decision)?.says}${condition === '' ? '' : ', if…'}`
  const badge = <OutcomeBadge word={toOutcomeLabel(decision)} says={says} />
  if (onMove === undefined) return badge
  const entries = DECISIONS.map(({ action, says }) => ({
    says,
    isOn: action === decision && condition === '',
    onPress: () => onMove(move(action)),
  }))
  return (
    <MenuButton
      label={`Decision for ${id}`}
      sections={{
        'Every call': entries,
        'This text': server === '' ? [] : [{ says: 'Try a call…', onPress: () => onTry(id) }],
      }}
    >
      {badge}
    </MenuButton>
  )
}

function listCategories({ categories, fallback }: Board): PolicyRow[] {
  return categories.map(({ name, action, tools }) => ({
    id: `All of ${name}`,
    server: '',
    name: `All of ${name} (${count(tools)}${action === 'default' ? ', by default' : ''})`,
    category: name,
    unknown: false,
    risk: null,
    decision: action === 'default' ? fallback : action,
    condition: '',
    limits: [],
    guardrails: [],
    move: (to) => ({ category: name, to }),
  }))
}

function toRow({ column, ...tool }: BoardTool): PolicyRow {
  const id = `${tool.server}/${tool.name}`
  return { ...tool, id, decision: column, move: (to) => ({ tool: id, to }) }
}

/** The gate's own tools for agents are many, and seldom what one looks for: they come last. */
function byServer(one: PolicyRow, other: PolicyRow): number {
  const isOwn = ({ name }: PolicyRow) => Number(/^wasm_(agent|gallery)_/.test(name))
  return isOwn(one) - isOwn(other) || (one.id < other.id ? -1 : 1)
}

/** Guardrails that every tool is under: said once, above the table. */
function findCommon(tools: readonly BoardTool[]): readonly string[] {
  const [first, ...others] = tools
  return (first?.guardrails ?? []).filter((name) =>
    others.every(({ guardrails }) => guardrails.includes(name)),
  )
}
