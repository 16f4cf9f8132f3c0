// The command palette (Ctrl or Cmd and K): pages, commands, servers, tools, agents, callers and a search
// of the ledger, by typing; and the list of shortcuts (?).

import { type JSX, useMemo, useState } from 'react'
import { Autocomplete } from 'react-aria-components/Autocomplete'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { TextField } from 'react-aria-components/TextField'
import type {
  LedgerNames,
  ListedAgentView,
  ServerView,
  ToolView,
} from '../../src/contract/contract.ts'
import { formatQuery } from './api.ts'
import { useResource } from './resource.ts'
import { go, pathTo } from './route.ts'
import { mayAct, signOut, useMe } from './session.ts'
import { openShortcut } from './shortcuts.tsx'
import { turnTheme, useTheme } from './theme.ts'
import { Dialog } from './ui/dialog.tsx'
import { Facts } from './ui/panel.tsx'
import { UntrustedText } from './ui/text.tsx'
import { chooseZone, chosenZone } from './zone.ts'

const SHOWN_MAX = 20
const WANTED = 'Page, command, server, tool, agent, caller or text'

interface PaletteItem {
  readonly kind: string
  readonly name: string
  /** An address, or what it does. */
  readonly to: string | (() => void)
  /** Found by this as well. */
  readonly id?: string
}

export interface PageLink {
  readonly path: string
  readonly says: string
}

interface PaletteProps {
  readonly pages: readonly PageLink[]
  readonly onClose: () => void
}

export function Palette({ pages, onClose }: PaletteProps): JSX.Element {
  const [text, setText] = useState('')
  const fetchedServers = useResource<{ servers: ServerView[] }>('/servers')
  const fetchedTools = useResource<{ tools: ToolView[] }>('/tools')
  const fetchedAgents = useResource<{ agents: ListedAgentView[] }>('/agents')
  const servers = fetchedServers.value?.servers
  const tools = fetchedTools.value?.tools
  const agents = fetchedAgents.value?.agents
  const isLoading = [fetchedServers, fetchedTools, fetchedAgents].some(
    ({ error, value }) => error === undefined && value === undefined,
  )
  const callers = useResource<LedgerNames>(
    text === '' ? undefined : `/ledger/names${formatQuery({ of: 'principal', text })}`,
  ).value?.names
  const commands = useCommands()
  const items = useMemo(
    (): PaletteItem[] => [
      ...pages.map(({ path, says }) => ({ kind: 'Page', name: says, to: `/${path}` })),
      ...commands,
      ...(servers ?? []).map(({ name }) => ({ kind: 'Server', name, to: pathTo('servers', name) })),
      ...(tools ?? []).map(({ server, name }) => ({
        kind: 'Tool',
        name: `${server}/${name}`,
        to: `/servers${formatQuery({ tool: `${server}/${name}` })}`,
      })),
      ...(agents ?? []).map(({ id, name, task }) => ({
        kind: 'Agent',
        name: name || task || id,
        id,
        to: pathTo('agents', id),
      })),
      ...(callers ?? []).map((name) => ({
        kind: 'Calls of',
        name,
        to: `/ledger${formatQuery({ principal: name })}`,
      })),
    ],
    [pages, commands, servers, tools, agents, callers],
  )
  const wanted = text.toLowerCase()
  const matches = items
    .filter(({ name, id = '' }) => `${name} ${id}`.toLowerCase().includes(wanted))
    .slice(0, SHOWN_MAX)
  const search = { kind: 'Ledger', name: `Search calls for “${text}”` }
  // Enter follows the row that was there first: the search is offered when all that may match has been fetched.
  const shown =
    text === '' || isLoading
      ? matches
      : [...matches, { ...search, to: `/ledger${formatQuery({ text })}` }]
  const follow = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    onClose()
    if (typeof item.to === 'string') go(item.to)
    else item.to()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <Autocomplete inputValue={text} onInputChange={setText}>
        <TextField aria-label={WANTED} autoFocus>
          <Input className="input" placeholder={WANTED} spellCheck={false} />
        </TextField>
        <ListBox
          aria-label="Results"
          className="menu scroll low"
          items={shown.map((item) => ({ item, id: keyOf(item) }))}
          onAction={(key) => follow(shown.find((item) => keyOf(item) === key))}
        >
          {({ item: { name, kind } }) => (
            <ListBoxItem textValue={name} className="menu-item row line spread">
              <UntrustedText text={name} className="cut" />
              <span className="muted small">{kind}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
    </Dialog>
  )
}

const keyOf = ({ kind, name, id = '' }: PaletteItem): string => `${kind} ${name} ${id}`

/** What can be done from every page. */
function useCommands(): readonly PaletteItem[] {
  const me = useMe()
  const isDark = useTheme() === 'dark'
  return useMemo(() => {
    const isUtc = chosenZone() === 'utc'
    const command = (name: string, to: PaletteItem['to']) => ({ kind: 'Command', name, to })
    const after = (which: 'freeze' | 'shortcuts') => () => openShortcut(which)
    return [
      ...(mayAct(me, 'approver') ? [command('Freeze everything…', after('freeze'))] : []),
      ...(mayAct(me, 'admin')
        ? [
            command('Add a server', '/servers?add=server'),
            command('Connect a client', '/servers?add=client'),
          ]
        : []),
      command('Events of the gate', '/ledger?shows=events'),
      command(isUtc ? 'Show local times' : 'Show times in UTC', () =>
        chooseZone(isUtc ? 'local' : 'utc'),
      ),
      command(isDark ? 'Light colours' : 'Dark colours', turnTheme),
      command('Keyboard shortcuts', after('shortcuts')),
      command('Sign out', signOut),
    ]
  }, [me, isDark])
}

const SHORTCUTS = {
  'Ctrl K or ⌘ K': 'Go to a page, server, tool, agent or caller; commands; search',
  '?': 'This list',
  'j, k or arrows': 'Next and previous in a list',
  'a, d': 'Approvals: approve, deny',
  Escape: 'Close a dialog or drawer',
} as const

export function Shortcuts({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Facts of={SHORTCUTS} />
    </Dialog>
  )
}
