// The command palette (Ctrl or Cmd and K): pages, servers, tools, agents and a search of the ledger, by
// typing; and the list of shortcuts (?).

import { type JSX, useMemo, useState } from 'react'
import type {
  AgentView,
  ServerView,
  ToolView,
} from '../../packages/sluice/src/admin/contract/contract.ts'
import { formatQuery } from './api.ts'
import { useResource } from './resource.ts'
import { go, pathTo } from './route.ts'
import { Dialog } from './ui/dialog.tsx'
import { UntrustedText } from './ui/text.tsx'

const SHOWN_MAX = 12

interface PaletteItem {
  readonly kind: string
  readonly name: string
  readonly to: string
}

export interface PageLink {
  readonly path: string
  readonly says: string
}

export function Palette({
  pages,
  onClose,
}: {
  pages: readonly PageLink[]
  onClose: () => void
}): JSX.Element {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const servers = useResource<{ servers: ServerView[] }>('/servers').value?.servers
  const tools = useResource<{ tools: ToolView[] }>('/tools').value?.tools
  const agents = useResource<{ agents: AgentView[] }>('/agents').value?.agents
  const items = useMemo(
    (): PaletteItem[] => [
      ...pages.map(({ path, says }) => ({ kind: 'Page', name: says, to: `/${path}` })),
      ...(servers ?? []).map(({ name }) => ({ kind: 'Server', name, to: pathTo('servers', name) })),
      ...(tools ?? []).map(({ server, name }) => ({
        kind: 'Tool',
        name: `${server}/${name}`,
        to: `/servers${formatQuery({ tool: `${server}/${name}` })}`,
      })),
      ...(agents ?? []).map(({ id }) => ({ kind: 'Agent', name: id, to: pathTo('agents', id) })),
    ],
    [pages, servers, tools, agents],
  )
  const wanted = text.toLowerCase()
  const matches = items
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .slice(0, SHOWN_MAX)
  const search = { kind: 'Ledger', name: `Search calls for “${text}”` }
  const shown =
    text === '' ? matches : [...matches, { ...search, to: `/ledger${formatQuery({ text })}` }]
  const current = Math.min(at, shown.length - 1)
  const follow = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    onClose()
    go(item.to)
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        autoFocus
        className="input"
        role="combobox"
        aria-label="Page, server, tool, agent or text"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${current}`}
        placeholder="Page, server, tool, agent or text"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (step !== undefined) {
            event.preventDefault()
            setAt((current + step + shown.length) % shown.length)
          } else if (event.key === 'Enter') follow(shown[current])
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Results" className="palette-list">
        {shown.map((item, index) => (
          <button
            type="button"
            role="option"
            key={`${item.kind} ${item.name}`}
            id={`palette-${index}`}
            aria-selected={index === current}
            tabIndex={-1}
            className="palette-item"
            onClick={() => follow(item)}
          >
            <UntrustedText text={item.name} className="cut" />
            <span className="muted small">{item.kind}</span>
          </button>
        ))}
      </div>
    </Dialog>
  )
}

const SHORTCUTS = [
  { keys: 'Ctrl K or ⌘ K', does: 'Go to a page, server, tool or agent, or search the ledger' },
  { keys: '?', does: 'This list' },
  { keys: 'a, d', does: 'Approvals: approve, deny' },
  { keys: 'j, k or arrows', does: 'Approvals: next, previous' },
  { keys: 'Enter on a grip', does: 'Policy: take a piece; Tab chooses a column, Enter drops it' },
  { keys: 'Escape', does: 'Close a dialog or drawer' },
] as const

export function Shortcuts({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="facts">
        {SHORTCUTS.map(({ keys, does }) => (
          <div key={keys} className="contents">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
