// The side of an agent's page: the slider over its turns, todos, budgets and files, all of the turn that
// is shown.

import type { JSX } from 'react'
import type { AgentPage } from '../../../../src/contract/contract.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Panel } from '../../ui/panel.tsx'
import { TextLine, UntrustedText } from '../../ui/text.tsx'
import { bytes, clock, count, money, plural, short } from '../../ui/words.ts'

interface TimelineProps {
  readonly turns: number
  readonly turn: number | undefined
  readonly onTurn: (turn: number | undefined) => void
  readonly onJournal: () => void
}

export function Timeline({ turns, turn, onTurn, onJournal }: TimelineProps): JSX.Element {
  return (
    <Panel
      title="Timeline"
      isSmall
      side={
        <Button kind="quiet" onPress={() => (turn === undefined ? onJournal() : onTurn(undefined))}>
          {turn === undefined ? 'Journal' : 'Back to now'}
        </Button>
      }
    >
      <input
        type="range"
        min={0}
        max={Math.max(turns, 1)}
        value={turn ?? turns}
        aria-label="Turn"
        aria-valuetext={turn === undefined ? `now, turn ${turns}` : `turn ${turn} of ${turns}`}
        onChange={(event) => {
          const to = Number(event.target.value)
          onTurn(to >= turns ? undefined : to)
        }}
      />
      <p className="muted small num">
        {turn === undefined
          ? `Now: ${count(turns)} turns`
          : `As it was after turn ${turn} of ${turns}`}
      </p>
    </Panel>
  )
}

const TODO = {
  pending: ['todo', 'to do'],
  in_progress: ['doing', 'in progress'],
  completed: ['allow', 'done'],
  cancelled: ['hide', 'cancelled'],
} as const

export function Todos({ todos }: { todos: AgentPage['todos'] }): JSX.Element {
  const done = todos.filter(({ status }) => status === 'completed').length
  return (
    <Panel
      title="Todos"
      isSmall
      side={<span className="muted small num">{`${done} of ${todos.length}`}</span>}
    >
      {todos.length === 0 && <p className="muted small">none yet</p>}
      <ul className="stack">
        {todos.map(({ id, content, status }) => (
          <li key={id} className={`todo ${status}`} data-status={status}>
            <Icon name={TODO[status][0]} />
            <UntrustedText text={content} />
            <span className="tag">{TODO[status][1]}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

export function Budgets({ agent }: { agent: AgentPage }): JSX.Element {
  return (
    <Panel
      title="Budgets"
      isSmall
      side={
        <span className="muted small">{agent.turn === null ? 'Used so far' : 'Used by then'}</span>
      }
    >
      {agent.budgets.map(({ name, used, max }) => (
        <div key={name} className="meter-row">
          <span>{name}</span>
          <span className="num muted">
            {(name === 'cost' ? money : short)(used)}
            {max === null ? '' : ` of ${(name === 'cost' ? money : short)(max)}`}
          </span>
          {max !== null && (
            <meter min={0} max={max} high={max * 0.8} optimum={0} value={used} aria-label={name} />
          )}
        </div>
      ))}
      {agent.relatives > 0 && (
        <p className="muted small">
          Shared with {plural(agent.relatives, 'other agent')} of its family; this one has used{' '}
          {plural(agent.turns, 'turn')} and {short(agent.tokens)} tokens.
        </p>
      )}
      <p className="muted small">
        owner <TextLine text={agent.owner} /> · model <TextLine text={agent.model} />
      </p>
      {agent.grants.length > 0 && (
        <p className="muted small">
          may call <UntrustedText text={agent.grants.join(', ')} className="mono" />
        </p>
      )}
    </Panel>
  )
}

/** Numbers in names are in the order of numbers. */
const byPath = (one: { path: string }, other: { path: string }): number =>
  one.path.localeCompare(other.path, 'en', { numeric: true })

interface FilesProps {
  readonly agent: AgentPage
  readonly onOpen: (path: string) => void
}

export function Files({ agent, onOpen }: FilesProps): JSX.Element {
  return (
    <Panel title="Files" isSmall>
      {agent.fileList.length === 0 && <p className="muted small">none</p>}
      <ul>
        {agent.fileList.toSorted(byPath).map(({ path, bytes: size, modifiedMs }) => (
          <li key={path}>
            <button
              type="button"
              className="line-button"
              title={`Changed at ${clock(modifiedMs)}`}
              onClick={() => onOpen(path)}
            >
              <Icon name="file" />
              <TextLine text={path} className="mono grow" />
              <span className="muted small num">{bytes(size)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
