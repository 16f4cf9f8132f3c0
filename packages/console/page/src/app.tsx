// The console: sign-in first, then the navigation and one page at a time. Pages beyond the first
// are loaded when they are opened.

import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, type JSX, Suspense, useEffect, useState } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import type { ServerView, SettingsView } from '../../src/contract/contract.ts'
import { EVERYTHING, FreezeBanner, FreezeButton } from './freeze.tsx'
import { keepFocus } from './keep-focus.ts'
import { Later, LaterPage } from './later.tsx'
import { usePageTitle } from './page-title.ts'
import { Approvals } from './pages/approvals/approvals.tsx'
import { openInbox, useInbox } from './pages/approvals/inbox.ts'
import { Overview } from './pages/overview/overview.tsx'
import { queries, useResource } from './resource.ts'
import { go, useRoute } from './route.ts'
import { signOut, useSession } from './session.ts'
import { openShortcut, ShortcutDialogs } from './shortcuts.tsx'
import { SignIn } from './sign-in.tsx'
import { Button, Link } from './ui/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Icon, type IconName } from './ui/icons.tsx'
import { useMedia } from './ui/media.ts'
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
  readonly page: ComponentType | LaterPage
}

const PAGES: readonly PageEntry[] = [
  { path: 'overview', says: 'Overview', icon: 'overview', page: Overview },
  { path: 'approvals', says: 'Approvals', icon: 'approvals', page: Approvals },
  pageLater('ledger', 'Ledger', async () => (await import('./pages/ledger/ledger.tsx')).Ledger),
  pageLater(
    'servers',
    'Servers',
    async () => (await import('./pages/servers/servers.tsx')).Servers,
  ),
  pageLater('policy', 'Policy', async () => (await import('./pages/policy/policy.tsx')).Policy),
  pageLater('agents', 'Agents', async () => (await import('./pages/agents/agents.tsx')).Agents),
  pageLater(
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
  page: new LaterPage(async () => (await import('./pages/overview/alert.tsx')).AlertPage),
}

/** Reached from the page of a server, and from the answer to a call. */
const CONNECT: PageEntry = {
  path: 'connect',
  says: 'Connect',
  icon: 'servers',
  page: new LaterPage(async () => (await import('./pages/servers/connections.tsx')).ConnectPage),
}

function pageLater(
  path: Extract<IconName, 'servers' | 'policy' | 'agents' | 'ledger' | 'settings'>,
  says: string,
  load: () => Promise<ComponentType>,
): PageEntry {
  return { path, says, icon: path, page: new LaterPage(load) }
}

export function App(): JSX.Element {
  const { state } = useSession()
  const zone = useZone()
  return (
    <I18nProvider locale={LOCALE}>
      {state === 'in' ? (
        <QueryClientProvider client={queries}>
          <Console key={zone} />
        </QueryClientProvider>
      ) : (
        <SignIn />
      )}
      <Toasts />
    </I18nProvider>
  )
}

/** English that writes dates as ISO does, whatever the browser speaks. */
const LOCALE = 'en-CA'

function Console(): JSX.Element {
  const { page } = useRoute()
  useEffect(() => openInbox(), [])
  const { pending, state } = useInbox()
  useEffect(() => {
    if (page === 'live') go('/ledger?follow=1', true)
  }, [page])
  const current = [...PAGES, ALERT, CONNECT].find(
    ({ path }) => path === (page === '' ? 'overview' : page),
  )
  usePageTitle(current?.says ?? 'Not found', pending.length)
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
            <PageBoundary key={current.path} isGateAway={state === 'lost'}>
              {current.page instanceof LaterPage ? <Later of={current.page} /> : <current.page />}
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
        <div className="banner warn strong">
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
        <div className="banner warn strong">
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

const COUNT_EVERY_MS = 15_000
/** So many pages fit below a page on a phone; the others are under More. */
const PHONE_PAGES = 5

function Navigation({ current }: { current: string | undefined }): JSX.Element {
  const servers = useResource<{ servers: ServerView[] }>('/servers', COUNT_EVERY_MS)
  const toReview = (servers.value?.servers ?? []).reduce((sum, one) => sum + one.undecided, 0)
  const counts: Readonly<Record<string, readonly [count: number, says: string]>> = {
    approvals: [useInbox().pending.length, 'pending'],
    servers: [toReview, toReview === 1 ? 'definition to review' : 'definitions to review'],
  }
  const isPhone = useMedia('phone')
  const [isMore, setMore] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: closed by each link in it
  useEffect(() => setMore(false), [current])
  const toLink = ({ path, says, icon }: PageEntry) => {
    const [count = 0, what = ''] = counts[path] ?? []
    return (
      <Link key={path} to={`/${path}`} className="nav-link" current={path === current} title={says}>
        <Icon name={icon} />
        <span className="nav-word">{says}</span>
        {count > 0 && (
          <b className="count num">
            {count}
            <span className="visually-hidden"> {what}</span>
          </b>
        )}
      </Link>
    )
  }
  const search = (
    <button
      type="button"
      className="nav-link nav-search"
      title="Go to…"
      onClick={() => openShortcut('palette')}
    >
      <Icon name="search" />
      <span className="nav-word">Go to…</span>
      <kbd>Ctrl K</kbd>
    </button>
  )
  return (
    <nav className="nav" aria-label="Pages">
      {!isPhone && (
        <>
          <div className="row brand">
            <img src="/icon.svg" alt="" width="22" height="22" />
            <span className="nav-word">Sluice</span>
          </div>
          {search}
        </>
      )}
      {PAGES.slice(0, isPhone ? PHONE_PAGES : PAGES.length).map(toLink)}
      {isPhone ? (
        <button type="button" className="nav-link" onClick={() => setMore(true)}>
          <Icon name="settings" />
          <span>More</span>
        </button>
      ) : (
        <NavigationFoot />
      )}
      {isPhone && isMore && (
        <Dialog title="More" onClose={() => setMore(false)}>
          {PAGES.slice(PHONE_PAGES).map(toLink)}
          {search}
          <NavigationFoot />
        </Dialog>
      )}
    </nav>
  )
}

function NavigationFoot(): JSX.Element {
  const { me } = useSession()
  return (
    <div className="nav-foot">
      <FreezeButton target={EVERYTHING} />
      <div className="row line who">
        <span className="avatar" aria-hidden="true" title={me?.name}>
          {me?.name.slice(0, 2).toUpperCase()}
        </span>
        <div className="nav-word cut">
          <div className="strong cut">{me?.name}</div>
          <div className="muted small cut" title={me?.roles.join(', ')}>
            {me?.roles.includes('admin') === true ? 'admin' : me?.roles.join(', ')}
          </div>
        </div>
      </div>
      <div className="row line">
        <ThemeSwitch />
        <ZoneSwitch />
        <Button kind="quiet" onPress={signOut}>
          <span title="Sign out">
            <Icon name="out" />
          </span>
          <span className="nav-word">Sign out</span>
          <span className="visually-hidden">of the console</span>
        </Button>
      </div>
    </div>
  )
}
