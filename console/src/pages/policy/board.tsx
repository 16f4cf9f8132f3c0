// The board: a column for each word, tools and whole categories in it, to be dragged from one to
// another with the pointer or the keyboard (Enter on the grip, Tab to a column, Enter). What one word
// cannot say has a lock and is changed in the text.

import { type JSX, useMemo } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { GridList, GridListItem } from 'react-aria-components/GridList'
import { isTextDropItem, useDragAndDrop } from 'react-aria-components/useDragAndDrop'
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer'
import type { BoardTool, PolicyDraft } from '../../../../src/admin/contract.ts'
import { Icon } from '../../ui/icons.tsx'
import { Mark, wordOf } from '../../ui/marks.tsx'
import { SaidLine } from '../../ui/said.tsx'
import { say } from '../../ui/toasts.tsx'
import { count } from '../../ui/words.ts'
import type { Move } from './draft.ts'

const COLUMNS = [
  { action: 'allow', says: 'Allow' },
  { action: 'require_approval', says: 'Ask' },
  { action: 'deny', says: 'Deny' },
  { action: 'hide', says: 'Hide' },
] as const

const TYPE = 'application/x-sluice-rule'

interface Item {
  readonly id: string
  readonly name: string
  /** What stands large on the piece. */
  readonly title: string
  readonly detail: string
  readonly risk: string | null
  readonly lock: string
  readonly limits: readonly string[]
  readonly column: string
  readonly move: (to: string) => Move
}

export function Board({
  board,
  filter,
  onMove,
  onLocked,
}: {
  board: NonNullable<PolicyDraft['board']>
  filter: string
  onMove: (move: Move) => void
  onLocked: (rule: string) => void
}): JSX.Element {
  const items = useMemo(() => [...categoriesOf(board), ...board.tools.map(itemOf)], [board])
  const wanted = filter.toLowerCase()
  const shown = wanted === '' ? items : items.filter(({ id }) => id.toLowerCase().includes(wanted))
  const byId = useMemo(() => new Map(items.map((item) => [item.id, item])), [items])
  const drop = (id: string, to: string) => {
    const item = byId.get(id)
    if (item === undefined || item.column === to) return
    if (item.lock !== '') {
      say(`${item.name}: ${item.lock}. Change it in the text.`, 'bad')
      return onLocked(item.name)
    }
    onMove(item.move(to))
  }
  return (
    <div className="board">
      {COLUMNS.map(({ action, says }) => (
        <Column
          key={action}
          action={action}
          says={says}
          items={shown.filter(({ column }) => column === action)}
          onDrop={(id) => drop(id, action)}
        />
      ))}
    </div>
  )
}

function Column({
  action,
  says,
  items,
  onDrop,
}: {
  action: string
  says: string
  items: readonly Item[]
  onDrop: (id: string) => void
}): JSX.Element {
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) =>
      [...keys].map((key) => ({ [TYPE]: String(key), 'text/plain': String(key) })),
    acceptedDragTypes: [TYPE],
    getDropOperation: () => 'move',
    onRootDrop: async ({ items: dropped }) => {
      for (const item of dropped) if (isTextDropItem(item)) onDrop(await item.getText(TYPE))
    },
  })
  return (
    <section className={`column ${wordOf(action)}-column`} aria-label={says}>
      <header className="column-head">
        <Mark word={wordOf(action)} says={says} />
        <span className="muted num small">
          {count(items.filter(({ id }) => !id.startsWith('category:')).length)}
        </span>
      </header>
      <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: 58, gap: 6, padding: 8 }}>
        <GridList
          aria-label={`Tools: ${says}`}
          className="column-list"
          items={items}
          dragAndDropHooks={dragAndDropHooks}
          selectionMode="none"
          renderEmptyState={() => <p className="column-empty muted small">Drop a tool here</p>}
        >
          {(item) => (
            <GridListItem id={item.id} textValue={item.name} className="piece">
              <AriaButton slot="drag" className="grip" aria-label={`Move ${item.name}`}>
                <Icon name={item.lock === '' ? 'grip' : 'lock'} />
              </AriaButton>
              <div className="piece-body">
                <SaidLine text={item.title} className="strong" />
                <span className="row piece-detail">
                  <span className="muted small cut">{item.detail}</span>
                  {(item.risk === 'high' || item.risk === 'critical') && (
                    <span className={`tag ${item.risk}`}>{item.risk}</span>
                  )}
                  {item.limits.length > 0 && (
                    <span className="tag" title={item.limits.join(', ')}>
                      <Icon name="limited" size={10} />
                      <span className="visually-hidden">limited: {item.limits.join(', ')}</span>
                    </span>
                  )}
                </span>
              </div>
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
    </section>
  )
}

function categoriesOf(board: NonNullable<PolicyDraft['board']>): Item[] {
  return board.categories.map(({ name, action, lock, tools }) => ({
    ...{
      id: `category:${name}`,
      name: `All of ${name}`,
      title: `All of ${name}`,
      lock,
      risk: null,
      limits: [],
    },
    detail: `${count(tools)} tools${action === 'default' ? ', by default' : ''}`,
    column: action === 'default' ? board.fallback : action,
    move: (to) => ({ category: name, to }),
  }))
}

function itemOf({ server, name, category, risk, lock, limits, column }: BoardTool): Item {
  return {
    ...{ id: `${server}/${name}`, name: `${server}/${name}`, title: name, risk, lock },
    detail: `${server} · ${category}`,
    ...{ limits, column },
    move: (to) => ({ tool: `${server}/${name}`, to }),
  }
}
