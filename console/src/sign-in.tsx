// The door: a passkey where somebody has one, otherwise what to type in a terminal.

import type { JSX } from 'react'
import { signInWithPasskey, useSession } from './session.ts'
import { Button } from './ui/button.tsx'
import { Icon } from './ui/icons.tsx'
import { Fault } from './ui/page.tsx'

export function SignIn(): JSX.Element {
  const { state, ways, error } = useSession()
  return (
    <main className="door" id="main">
      <div className="door-card card">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sluice</h1>
        <p className="muted">The gate between agents and their tools.</p>
        {state === 'starting' ? (
          <p role="status" className="muted">
            Signing in…
          </p>
        ) : (
          <>
            {error !== undefined && <Fault error={error} />}
            {ways?.passkey !== false && (
              <Button kind="primary" large onPress={() => signInWithPasskey()}>
                <Icon name="key" /> Sign in with a passkey
              </Button>
            )}
            <p className="muted small">
              {ways?.passkey === false ? 'Nobody has a passkey here yet. ' : 'Or in a terminal: '}
              run <code>npx sluice console</code>, which asks for your PIN and opens this page
              signed in.
            </p>
          </>
        )}
      </div>
    </main>
  )
}
