// The sign-in page: a passkey if one exists, authorisation servers if the gate has some, otherwise
// what to type in a terminal.

import type { JSX } from 'react'
import { signInExternally, signInWithPasskey, tryAgain, useSession } from './session.ts'
import { Button } from './ui/button.tsx'
import { Icon } from './ui/icons.tsx'
import { ErrorNotice } from './ui/page.tsx'

export function SignIn(): JSX.Element {
  const { state, ways, error } = useSession()
  const issuers = ways?.issuers.filter(({ onPage }) => onPage) ?? []
  const isDown = error?.code === 'UNREACHABLE'
  return (
    <main className="door" id="main">
      <div className="door-card card stack">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sluice</h1>
        <p className="muted">The gate between agents and their tools.</p>
        {state === 'starting' ? (
          <p role="status" className="muted">
            Signing in…
          </p>
        ) : (
          <>
            {error !== undefined && (
              <ErrorNotice error={error} {...(isDown ? { again: () => void tryAgain() } : {})} />
            )}
            {ways?.passkey === true && (
              <Button kind="primary" large onPress={() => signInWithPasskey()}>
                <Icon name="key" /> Sign in with a passkey
              </Button>
            )}
            {issuers.map(({ name, issuer }) => (
              <Button
                key={name}
                kind={ways?.passkey === true ? 'plain' : 'primary'}
                large
                onPress={() => signInExternally(name)}
              >
                <Icon name="out" /> Sign in with {name}
                <span className="visually-hidden">, at {issuer}</span>
              </Button>
            ))}
            {ways !== undefined && (
              <p className="muted small">
                {ways.passkey || issuers.length > 0
                  ? 'Or run in a terminal:'
                  : 'No one has a passkey here yet. Run in a terminal:'}
                <code className="code door-command">npx sluice console</code>
                It asks for your PIN and opens this page signed in.
              </p>
            )}
          </>
        )}
      </div>
    </main>
  )
}
