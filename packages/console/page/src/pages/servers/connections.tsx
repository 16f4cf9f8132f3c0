// Signing in at a server for oneself. The browser goes to the server's authorisation server in a tab of its own, because
// this one keeps the person signed in, and comes back to the same address, whose answer goes to the gate.

import { type JSX, useEffect, useState } from 'react'
import type { ConnectionView, ConnectStart } from '../../../../src/contract/contract.ts'
import { type ApiError, post, toApiError } from '../../api.ts'
import { type Resource, useResource } from '../../resource.ts'
import { go, pathTo, useRoute } from '../../route.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ErrorNotice, Notice, Page } from '../../ui/page.tsx'
import { Loaded, Panel, Part } from '../../ui/panel.tsx'
import { complain } from '../../ui/toasts.tsx'
import { date } from '../../ui/words.ts'

const REFRESH_MS = 5_000

type Connections = Resource<{ readonly connections: readonly ConnectionView[] }>

export function useConnections(): Connections {
  return useResource('/connections', REFRESH_MS)
}

/** The page that an answer to a call names, and that a browser comes back to. */
export function ConnectPage(): JSX.Element {
  const { rest } = useRoute()
  const server = rest[0] ?? ''
  const connections = useConnections()
  const { error, done } = useAnswer(server, connections.reload)
  return (
    <Page title={`Connect ${server}`} lead={<Link to={pathTo('servers', server)}>The server</Link>}>
      {error !== undefined && <ErrorNotice error={error} />}
      {done && (
        <Notice kind="good">You are signed in. Make the call again; you can close this tab.</Notice>
      )}
      <Loaded of={connections}>
        {({ connections: all }) => {
          const own = all.filter((one) => one.server === server)
          return own.length > 0 ? (
            <Panel title="Your sign-ins" isSmall>
              <ConnectionList of={own} />
            </Panel>
          ) : (
            <Notice kind="warn">
              There is nothing to sign in at for you here: the server has no login of each person,
              or no principal is yours. An admin gives one with{' '}
              <span className="mono">sluice approvers add NAME --owns PRINCIPAL</span>.
            </Notice>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** On the page of a server; nothing if nobody signs in there for themselves. */
export function ServerConnections({ server }: { server: string }): JSX.Element | null {
  const { value } = useConnections()
  const own = (value?.connections ?? []).filter((one) => one.server === server)
  if (own.length === 0) return null
  return (
    <Part title="Your sign-ins">
      <ConnectionList of={own} />
    </Part>
  )
}

function ConnectionList({ of }: { of: readonly ConnectionView[] }): JSX.Element {
  return (
    <>
      {of.map((one) => (
        <Connection key={one.principal} of={one} />
      ))}
    </>
  )
}

function Connection({ of }: { of: ConnectionView }): JSX.Element {
  const { server, principal, isConnected, untilMs } = of
  const [address, setAddress] = useState<string>()
  const begin = async () => {
    const path = `/connections/${encodeURIComponent(server)}`
    const begun = await post<ConnectStart>(path, { principal }).catch(complain)
    if (begun !== undefined) setAddress(begun.address)
  }
  const until = untilMs === null ? '' : ` until ${date(untilMs)}`
  return (
    <div className="row">
      <span className="mono">{principal}</span>
      <span className="muted">{isConnected ? `signed in${until}` : 'not signed in'}</span>
      <span className="spacer" />
      {address === undefined ? (
        <Button kind={isConnected ? 'plain' : 'primary'} onPress={() => void begin()}>
          {isConnected ? 'Sign in again' : 'Connect'}
          <span className="visually-hidden"> {`${server} for ${principal}`}</span>
        </Button>
      ) : (
        <a className="btn primary" href={address} target="_blank" rel="noopener">
          <Icon name="out" /> Go on at {new URL(address).host}
        </a>
      )}
    </div>
  )
}

/** What the browser came back with, sent to the gate once. */
function useAnswer(
  server: string,
  reload: () => void,
): { readonly error: ApiError | undefined; readonly done: boolean } {
  const { query } = useRoute()
  const [error, setError] = useState<ApiError>()
  const [done, setDone] = useState(false)
  const state = query.get('state')
  useEffect(() => {
    if (state === null) return
    const answer = Object.fromEntries(query)
    // Out of the address and the history at once.
    go(pathTo('connect', server), true)
    const path = `/connections/${encodeURIComponent(server)}/answer`
    post(path, pick(answer)).then(
      () => {
        setDone(true)
        reload()
      },
      (failure) => setError(toApiError(failure)),
    )
  }, [server, state, query, reload])
  return { error, done }
}

const MEMBERS = ['state', 'code', 'iss', 'error', 'error_description'] as const

function pick(answer: Readonly<Record<string, string>>): Record<string, string> {
  const found = MEMBERS.flatMap((name) => {
    const value = answer[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}
