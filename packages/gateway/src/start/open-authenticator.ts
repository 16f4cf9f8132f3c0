// Puts together who may call: the grants of the store, the authorisation servers of the configuration,
// and what happens when that changes: the record says so, and sessions of those who may no longer call
// are ended, also while nobody asks. Called by open-identity.ts.

import { Authenticator } from '@sluice/access/identity/callers/authenticator'
import { isGrantValid } from '@sluice/access/identity/callers/grant'
import { Grants } from '@sluice/access/identity/callers/grants'
import { isLoopbackName } from '@sluice/access/identity/oauth/safe-url'
import type { Ledger } from '@sluice/ledger/ledger'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { GateConfig } from '../config/config.ts'
import { LOCAL_POLICY } from '../config/grants.ts'
import { audiencesOf, HttpAuthenticator } from '../front/http/http-authenticator.ts'
import { GRANTS_LOOK_MS } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import { ALL_SERVERS } from '../shared/transport.ts'
import type { PolicySet } from '../state/policy-set.ts'

interface AuthenticatorParts {
  readonly config: GateConfig
  readonly policies: () => PolicySet
  /** Ends the sessions of those who may no longer call. */
  readonly endUnheld: () => void
  readonly ledger: Ledger
  readonly log: Log
}

export async function openAuthenticator(
  { config, policies, endUnheld, ledger, log }: AuthenticatorParts,
  closing: AsyncDisposableStack,
): Promise<{ readonly authenticator: Authenticator; readonly grants: Grants }> {
  const grants = Grants.open(config.data, config.grants)
  closing.defer(() => grants.close())
  const { nowMs } = processClock
  const authenticator = new Authenticator({
    grants,
    tokens: await tokensOf(config, nowMs),
    mayBeLocal: isLocalOnly(config),
    localPolicy: LOCAL_POLICY,
    sessions: config.sessions,
    nowMs,
  })
  const warn = (): void => {
    for (const grant of grants.list())
      if (isGrantValid(grant, nowMs()) && !policies().has(grant.policy))
        log('warn', `the grant \`${grant.name}\` names a policy that is not there: all is denied`, {
          policy: grant.policy,
        })
  }
  warn()
  authenticator.onChange(() => {
    log('info', 'the grants have changed')
    const detail = { hold: grants.validNames(nowMs()) }
    const event = { atMs: Date.now(), name: 'grants', detail }
    ledger.event(event).catch(() => {})
    warn()
    endUnheld()
  })
  // Sessions over a pipe are not authenticated again, so they are closed when their grant ends.
  let endMs = grants.nextEndMs(nowMs())
  const endGrants = (): void => {
    if (nowMs() >= endMs) authenticator.grantsChanged()
    endMs = grants.nextEndMs(nowMs())
  }
  const timer = setInterval(() => {
    try {
      authenticator.look()
      endGrants()
      // A timer may fire a fraction of a millisecond early.
      if (endMs - nowMs() < GRANTS_LOOK_MS) setTimeout(endGrants, endMs - nowMs() + 1).unref()
      grants.storeLastUse()
      endUnheld()
    } catch (error) {
      const why = (error as Error).message
      log('error', 'the grants cannot be read, so nobody is let in', { why })
    }
  }, GRANTS_LOOK_MS).unref()
  closing.defer(() => clearInterval(timer))
  return { authenticator, grants }
}

export function authenticateFor(
  config: GateConfig,
  authenticator: Authenticator,
): HttpAuthenticator {
  const { clientDocument, issuers, publicUrl, tls } = config
  const scheme = tls === undefined ? 'http' : 'https'
  return new HttpAuthenticator({
    authenticator,
    baseOf: ({ headers }) => publicUrl ?? `${scheme}://${headers.host}`,
    issuers: issuers.map(({ issuer }) => issuer),
    scopes: [...new Set(issuers.flatMap(({ scopes }) => scopes))],
    clientDocument,
  })
}

/** A pipe has no address of its own: a token for the gate's is one for it. */
export function pipeAudiences(config: GateConfig, server: string): string[] {
  const { host, port, publicUrl, tls } = config
  const name = host.includes(':') ? `[${host}]` : host
  const base = publicUrl ?? `${tls === undefined ? 'http' : 'https'}://${name}:${port}`
  return audiencesOf(base, server === ALL_SERVERS ? '/mcp' : `/mcp/${server}`)
}

/** Whether only this machine can reach the gate. Behind a proxy every request comes from this machine. */
function isLocalOnly({ host, publicUrl }: GateConfig): boolean {
  return publicUrl === undefined && (isLoopbackName(host) || host === '::1')
}

/** Opens the verifier of tokens. It is loaded only if there are issuers, because loading takes a few hundredths
 * of a second. */
async function tokensOf({ issuers }: GateConfig, nowMs: () => number) {
  if (issuers.length === 0) return undefined
  const { AccessTokenVerifier } = await import(
    '@sluice/access/identity/callers/access-token-verifier'
  )
  return new AccessTokenVerifier(issuers, nowMs)
}
