// Puts the admin API together on the parts of a running gate: tables, sign-ins, proofs, router. Called
// by the composition root with the first request that is not MCP.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AccessTokenVerifier } from '@sluice/access/identity/callers/access-token-verifier'
import { givesRoles, type Issuer } from '@sluice/access/identity/callers/issuer'
import { ApprovalLinks } from '@sluice/access/identity/keys/approval-links'
import { Passkeys, type RelyingParty } from '@sluice/access/identity/people/passkeys'
import { canProve } from '@sluice/access/identity/people/people'
import type { Person } from '@sluice/access/identity/person'
import { toActor } from '@sluice/access/identity/person'
import type { Service } from '@sluice/agents/service/service'
import type { AdminSite } from '@sluice/gateway/front/http/site'
import type { LedgerLookup } from '@sluice/gateway/operations/operation'
import { OPERATIONS, toOperationParts } from '@sluice/gateway/operations/table'
import { createPersonVerifier } from '@sluice/gateway/operations/verify-person'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { recordFirst } from '@sluice/ledger/record-first'
import { processClock } from '@sluice/ledger/store/process-clock'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { JsonObject } from '@sluice/policy/values/json'
import { linesEndpoint } from './endpoints/approval-lines.ts'
import { authzenEndpoints } from './endpoints/authzen-endpoints.ts'
import { connectEndpoints } from './endpoints/connect-endpoints.ts'
import { operationEndpoints, watchEndpoint } from './endpoints/operation-endpoints.ts'
import { type Endpoint, endpoint } from './http/endpoint.ts'
import { ApiError } from './http/errors.ts'
import { CODE_MS, INVITATION_MS } from './http/limits.ts'
import { openApiOf } from './http/openapi.ts'
import type { LedgerReader } from './queries/ledger-reader.ts'
import { Router } from './router.ts'
import { Challenges } from './sign-in/challenges.ts'
import { verifyExternalPerson } from './sign-in/external-people.ts'
import { ExternalSignIn } from './sign-in/external-sign-in.ts'
import { signInEndpoints } from './sign-in/sign-in-endpoints.ts'
import { SignIns } from './sign-in/sign-ins.ts'
import { startConsole } from './start-console.ts'

/** `agents`: undefined if the gate runs none. */
export function startAdmin(
  parts: AdminParts,
  agents: () => Service | undefined = () => undefined,
): AdminSite {
  const { nowMs } = processClock
  const page = startConsole(parts, agents, nowMs)
  const people = openSignIn(parts)
  const { signIns, challenges, rpOf, invite } = people
  const operations = toOperationParts(parts, lookUpIn(page.reader))
  const endpoints: Endpoint[] = [
    ...signInEndpoints(people),
    ...operationEndpoints(OPERATIONS, operations, {
      /** A link by which somebody without any credential adds the first passkey. */
      'people.add': async (answer, { name, token }, by) =>
        token === true ? answer : { ...answer, invitation: await invite(String(name), by) },
      'people.remove': (answer, { name }) => {
        signIns.endAllOf(String(name))
        return answer
      },
    }),
    ...authzenEndpoints(operations, rpOf),
    ...connectEndpoints(parts, rpOf, nowMs),
    ...(parts.approvals === undefined
      ? []
      : [watchEndpoint(parts.approvals), linesEndpoint(parts.approvals)]),
    ...page.endpoints,
  ]
  endpoints.push(
    endpoint('GET /api/openapi.json', {
      role: 'viewer',
      summary: 'this table',
      handle: () => openApiOf(endpoints),
    }),
  )
  const router = new Router({ endpoints, signIns, challenges, rpOf })
  return {
    serve: (request: IncomingMessage, response: ServerResponse) =>
      page.serve(request, response) ? undefined : router.serve(request, response),
    words: createWords(parts, people),
    close: () => {
      router.close()
      page.close()
    },
  }
}

function lookUpIn(reader: Pick<LedgerReader, 'ask'>): LedgerLookup {
  return {
    recordedArguments: (of) => reader.ask('recordedArguments', of),
    lastCalls: (principals) => reader.ask('lastCalls', principals),
  }
}

/** What signing in works on, and how somebody is invited. */
function openSignIn(parts: AdminParts) {
  const { people, ledger, config } = parts
  const { nowMs } = processClock
  const passkeys = new Passkeys(people)
  const issuers = config.issuers.filter(givesRoles)
  const signIns = new SignIns(people, nowMs, issuers)
  const prove = createPersonVerifier({ people, ledger, nowMs })
  const record = async (how: string, name: string, by: Person): Promise<void> => {
    const detail = { how, name, by: toActor(by) }
    await recordFirst(ledger, { atMs: Date.now(), name: 'approver', detail })
  }
  const tokens = openTokenVerifier(issuers)
  // Codes, sign-ins and challenges are known to one gate: a load balancer sends the page to it by this parameter.
  const at = config.cluster === undefined ? '' : `?gate=${encodeURIComponent(config.cluster.name)}`
  const signInUrl = (base: string, code: string): string => `${base}/${at}#code=${code}`
  return {
    people,
    passkeys,
    challenges: new Challenges(passkeys, nowMs),
    signIns,
    prove,
    signInUrl,
    rpOf: (request: IncomingMessage): RelyingParty => relyingParty(parts, request),
    nowMs,
    links: new ApprovalLinks(parts.key),
    issuers: issuers.map(({ name, issuer, console }) => ({
      name,
      issuer,
      onPage: console !== undefined,
    })),
    elsewhere: new ExternalSignIn({ issuers, tokens, key: parts.key, nowMs }),
    isOtherUser: ({ socket }: IncomingMessage) => parts.isOtherUser(socket),
    guestOf: async (jwt: string, { origin }: RelyingParty) =>
      verifyExternalPerson(issuers, await tokens(), jwt, origin),
    record,
    provePin: async (name: string, pin: string) => {
      await prove({ proof: { name, pin } }, 'viewer', 'add a passkey')
    },
    invite: async (name: string, by: Person): Promise<string> => {
      const base = await consoleUrl(parts)
      await record('invited', name, by)
      return signInUrl(base, signIns.makeCode(name, 'client', INVITATION_MS))
    },
  }
}

/** Loaded with the first token that is checked. */
function openTokenVerifier(issuers: readonly Issuer[]): () => Promise<AccessTokenVerifier> {
  let checking: Promise<AccessTokenVerifier> | undefined
  return () => {
    if (issuers.length === 0)
      throw new ApiError('API_SIGN_IN', 'no issuer gives roles here', 'see docs/concepts/people.md')
    checking ??= import('@sluice/access/identity/callers/access-token-verifier').then(
      ({ AccessTokenVerifier: Made }) => new Made(issuers, processClock.nowMs),
    )
    return checking
  }
}

/** Words of the control socket that end in the console. */
function createWords(
  parts: AdminParts,
  { people, prove, invite, record, signIns, signInUrl }: ReturnType<typeof openSignIn>,
) {
  const isReachedElsewhere = parts.config.publicUrl !== undefined || parts.config.tls !== undefined
  return {
    /** For somebody who was added and has nothing yet to prove it by. */
    invite: async (request: JsonObject) => {
      const by = await prove(request, 'admin', 'approvers add')
      const person = people.find(String(request.name))
      if (person === undefined || person.kind !== 'person' || canProve(person))
        throw new OperationError(
          'an invitation is for somebody who has nothing yet',
          'add them first',
        )
      return { invitation: await invite(person.name, by) }
    },
    /** A person at the terminal, who wants to look at the page. */
    console: async (request: JsonObject) => {
      const person = await prove(request, 'viewer', 'console')
      const base = await consoleUrl(parts)
      await record('console opened', person.name, person)
      // Every user of the machine can read the command line of a browser that the command opens.
      const isOwnUsers = request.open === true && !isReachedElsewhere
      const code = signIns.makeCode(person.name, person.proof, CODE_MS, isOwnUsers)
      return { url: signInUrl(base, code), name: person.name, seconds: CODE_MS / 1_000 }
    },
  }
}

async function consoleUrl({ openPage }: AdminParts): Promise<string> {
  const base = await openPage()
  if (base !== undefined) return base
  throw new OperationError('this gate serves no page yet', 'try again in a moment')
}

/** The Host has been found to be the gate's own. */
function relyingParty({ config, isPiped }: AdminParts, { headers }: IncomingMessage): RelyingParty {
  const { tls, publicUrl } = isPiped ? { tls: undefined, publicUrl: undefined } : config
  const scheme = tls === undefined ? 'http' : 'https'
  const { hostname, origin } = new URL(publicUrl ?? `${scheme}://${headers.host}`)
  return { id: hostname, origin }
}
