// The console: sign-in first, then the navigation and one page at a time. Pages beyond the first
// are loaded when they are opened.

import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, type JSX, lazy, Suspense, useEffect } from 'react'
import type { ServerView, SettingsView } from '../../packages/sluice/src/admin/contract/contract.ts'
import { FreezeBanner, FreezeButton, watchFreezes } from './freeze.tsx'
import { keepFocus } from './keep-focus.ts'
import { usePageTitle } from './page-title.ts'
import { Approvals } from './pages/approvals/approvals.tsx'
import { listPending, openInbox, useInbox } from './pages/approvals/inbox.ts'
import { queries, useResource } from './resource.ts'
import { go, useRoute } from './route.ts'
import { signOut, useSession } from './session.ts'
import { openShortcut, ShortcutDialogs } from './shortcuts.tsx'
import { SignIn } from './sign-in.tsx'
import { Button, Link } from './ui/button.tsx'
import { Icon, type IconName } from './ui/icons.tsx'
import { Empty, Loading } from './ui/page.tsx'
import { PageBoundary } from './ui/page-boundary.tsx'
import { GateText } from './ui/text.tsx'
import { ThemeSwitch } from './ui/theme-switch.tsx'
import { Toasts } from './ui/toasts.tsx'
import { ZoneSwitch } from './ui/zone-switch.tsx'
import { useZone } from './zone.ts'

interface PageEntry {
  readonly path: string
  readonly says: string
  readonly icon: IconName
  readonly page: ComponentType
}

const PAGES: readonly PageEntry[] = [
  later(
    'overview',
    'Overview',
    async () => (await import('./pages/overview/overview.tsx')).Overview,
  ),
  { path: 'approvals', says: 'Approvals', icon: 'approvals', page: Approvals },
  later('ledger', 'Ledger', async () => (await import('./pages/ledger/ledger.tsx')).Ledger),
  later('servers', 'Servers', async () => (await import('./pages/servers/servers.tsx')).Servers),
  later('policy', 'Policy', async () => (await import('./pages/policy/policy.tsx')).Policy),
  later('agents', 'Agents', async () => (await import('./pages/agents/agents.tsx')).Agents),
  later(
    'settings',
    'Settings',
    async () => (await import('./pages/settings/settings.tsx')).Settings,
  ),
]

/** Reached from the overview and from messages. */
const ALERT: PageEntry = {
  path: 'alerts',
  says: 'Alert',
  icon: 'warn',
  page: lazy(async () => ({ default: (await import('./pages/overview/alert.tsx')).AlertPage })),
}

function later(
  path: Extract<IconName, 'overview' | 'servers' | 'policy' | 'agents' | 'ledger' | 'settings'>,
  says: string,
  load: () => Promise<ComponentType>,
): PageEntry {
  return { path, says, icon: path, page: lazy(async () => ({ default: await load() })) }
}

export function App(): JSX.Element {
  const { state } = useSession()
  const zone = useZone()
  return (
    <>
      {state === 'in' ? (
        <QueryClientProvider client={queries}>
          <Console key={zone} />
        </QueryClientProvider>
      ) : (
        <SignIn />
      )}
      <Toasts />
    </>
  )
}

function Console(): JSX.Element {
  const { page } = useRoute()
  useEffect(() => openInbox(), [])
  useEffect(() => watchFreezes(), [])
  const pending = listPending(useInbox()).length
  useEffect(() => {
    if (page === 'live') go('/ledger?follow=1', true)
  }, [page])
  const current = [...PAGES, ALERT].find(({ path }) => path === (page === '' ? 'overview' : page))
  usePageTitle(current?.says ?? 'Not found', pending)
  useEffect(() => keepFocus(), [])
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Navigation current={current?.path} />
      <ShortcutDialogs pages={PAGES} />
      <main className="main" id="main" tabIndex={-1}>
        <Lost />
        <Observed />
        <FreezeBanner />
        <Suspense fallback={<Loading />}>
          {current === undefined ? (
            <Empty icon="search" title="Nothing is here">
              The navigation leads to every page.
            </Empty>
          ) : (
            <PageBoundary key={current.path}>
              <current.page />
            </PageBoundary>
          )}
        </Suspense>
      </main>
    </div>
  )
}

/** Shown on every page: the data may be out of date. */
function Lost(): JSX.Element {
  const { state, why } = useInbox()
  return (
    <div role="status">
      {state === 'lost' && (
        <div className="lost">
          <Icon name="warn" />
          {why === undefined ? (
            'The gate does not answer. This page shows the last known state and reconnects by itself.'
          ) : (
            <span>
              No live updates: <GateText text={why} />. This page may be out of date.
            </span>
          )}
        </div>
      )}
    </div>
  )
}

const LOOK_EVERY_MS = 15_000

/** Shown on every page: calls pass that the policy would have stopped. */
function Observed(): JSX.Element {
  const { value } = useResource<SettingsView>('/settings', LOOK_EVERY_MS)
  const names = value?.observed ?? []
  return (
    <div role="status">
      {names.length > 0 && (
        <div className="lost">
          <Icon name="warn" />
          <span>
            Nothing is enforced: {names.join(', ')} only observes, and every call passes. Run{' '}
            <code>sluice enforce</code> to turn it on.
          </span>
        </div>
      )}
    </div>
  )
}

const COUNT_EVERY_MS = 5_000

function Navigation({ current }: { current: string | undefined }): JSX.Element {
  const inbox = useInbox()
  const waiting = listPending(inbox).length
  const servers = useResource<{ servers: ServerView[] }>('/servers', COUNT_EVERY_MS)
  const definitions = (servers.value?.servers ?? []).reduce((sum, one) => sum + one.undecided, 0)
  const { me } = useSession()
  return (
    <nav className="nav" aria-label="Pages">
      <div className="brand">
        <img src="/icon.svg" alt="" width="22" height="22" />
        <span>Sluice</span>
      </div>
      <button type="button" className="nav-link nav-search" onClick={() => openShortcut('palette')}>
        <Icon name="search" />
        <span>Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      {PAGES.map(({ path, says, icon }) => (
        <Link key={path} to={`/${path}`} className="nav-link" current={path === current}>
          <Icon name={icon} />
          <span>{says}</span>
          {path === 'approvals' && waiting > 0 && (
            <b className="count hot">
              {waiting}
              <span className="visually-hidden"> pending</span>
            </b>
          )}
          {path === 'servers' && definitions > 0 && (
            <b className="count hot">
              {definitions}
              <span className="visually-hidden">
                {definitions === 1 ? ' definition' : ' definitions'} to review
              </span>
            </b>
          )}
        </Link>
      ))}
      <div className="nav-foot">
        <FreezeButton target={{ scope: 'all', id: '' }} />
        <div className="who">
          <span className="avatar" aria-hidden="true">
            {me?.name.slice(0, 2).toUpperCase()}
          </span>
          <div className="who-text cut">
            <div className="who-name">{me?.name}</div>
            <div className="muted small cut" title={me?.roles.join(', ')}>
              {me?.roles.includes('admin') === true ? 'admin' : me?.roles.join(', ')}
            </div>
          </div>
        </div>
        <div className="row">
          <ThemeSwitch />
          <ZoneSwitch />
          <Button kind="quiet" onPress={signOut}>
            <span className="who-text">Sign out</span>
            <span className="visually-hidden">of the console</span>
          </Button>
        </div>
      </div>
    </nav>
  )
}
