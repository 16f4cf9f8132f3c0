// Puts the admin API together on the parts of a running gate: tables, sign-ins, proofs, router. Called
// by the composition root with the first request that is not MCP.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@sluice/policy/core/json'
import type { Service } from '../agents/service/service.ts'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import { toActor } from '../core/person.ts'
import type { AdminSite } from '../gateway/front/http/site.ts'
import type { AdminParts } from '../gateway/start/run-admin.ts'
import type { AccessTokenVerifier } from '../identity/callers/access-token-verifier.ts'
import { givesRoles } from '../identity/callers/issuer.ts'
import { ApprovalLinks } from '../identity/keys/approval-links.ts'
import { Passkeys, type RelyingParty } from '../identity/people/passkeys.ts'
import { canProve } from '../identity/people/people.ts'
import { OPERATIONS, toOperationParts } from '../operations/table.ts'
import { createPersonVerifier } from '../operations/verify-person.ts'
import { processClock } from '../store/process-clock.ts'
import { operationEndpoints, watchEndpoint } from './endpoints/operation-endpoints.ts'
import { type Endpoint, endpoint } from './http/endpoint.ts'
import { ApiError } from './http/errors.ts'
import { CODE_MS, INVITATION_MS } from './http/limits.ts'
import { openApiOf } from './http/openapi.ts'
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
  const { people, ledger, config } = parts
  const { nowMs } = processClock
  const passkeys = new Passkeys(people)
  const challenges = new Challenges(passkeys, nowMs)
  const issuers = config.issuers.filter(givesRoles)
  const signIns = new SignIns(people, nowMs, issuers)
  const rpOf = (request: IncomingMessage): RelyingParty => relyingParty(parts, request)
  const page = startConsole(parts, agents, nowMs)
  const operationParts = toOperationParts(parts)
  const prove = createPersonVerifier({ people, ledger, nowMs })
  const record = async (how: string, name: string, by: Person): Promise<void> => {
    const detail = { how, name, by: toActor(by) }
    await ledger.event({ atMs: Date.now(), name: 'approver', detail })
  }
  // Codes, sign-ins and challenges are known to one gate: a load balancer sends the page to it by this parameter.
  const at = config.cluster === undefined ? '' : `?gate=${encodeURIComponent(config.cluster.name)}`
  const isReachedElsewhere = config.publicUrl !== undefined || config.tls !== undefined
  const signInUrl = (base: string, code: string): string => `${base}/${at}#code=${code}`
  const invite = async (name: string, by: Person): Promise<string> => {
    const base = await consoleUrl(parts)
    await record('invited', name, by)
    return signInUrl(base, signIns.makeCode(name, 'client', INVITATION_MS))
  }
  let checking: Promise<AccessTokenVerifier> | undefined
  const tokens = (): Promise<AccessTokenVerifier> => {
    if (issuers.length === 0)
      throw new ApiError('API_SIGN_IN', 'no issuer gives roles here', 'see docs/concepts/people.md')
    checking ??= import('../identity/callers/access-token-verifier.ts').then(
      ({ AccessTokenVerifier: Made }) => new Made(issuers, nowMs),
    )
    return checking
  }
  const endpoints: Endpoint[] = [
    ...signInEndpoints({
      people,
      passkeys,
      challenges,
      signIns,
      rpOf,
      nowMs,
      links: new ApprovalLinks(parts.key),
      issuers: issuers.map(({ name, issuer, console }) => ({
        name,
        issuer,
        onPage: console !== undefined,
      })),
      elsewhere: new ExternalSignIn({ issuers, tokens, key: parts.key, nowMs }),
      isOtherUser: ({ socket }) => parts.isOtherUser(socket),
      guestOf: async (jwt, { origin }) =>
        verifyExternalPerson(issuers, await tokens(), jwt, origin),
      record,
      provePin: async (name, pin) => {
        await prove({ proof: { name, pin } }, 'viewer', 'add a passkey')
      },
    }),
    ...operationEndpoints(OPERATIONS, operationParts, {
      /** A link by which somebody without any credential adds the first passkey. */
      'people.add': async (answer, { name, token }, by) =>
        token === true ? answer : { ...answer, invitation: await invite(String(name), by) },
      'people.remove': (answer, { name }) => {
        signIns.endAllOf(String(name))
        return answer
      },
    }),
    ...(parts.approvals === undefined ? [] : [watchEndpoint(parts.approvals)]),
    ...page.endpoints,
  ]
  endpoints.push(
    endpoint({
      method: 'GET',
      path: '/api/openapi.json',
      role: 'viewer',
      summary: 'this table',
      handle: () => openApiOf(endpoints),
    }),
  )
  const router = new Router({ endpoints, signIns, challenges, rpOf })
  return {
    serve: (request: IncomingMessage, response: ServerResponse) =>
      page.serve(request, response) ? undefined : router.serve(request, response),
    words: {
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
    },
    close: () => {
      router.close()
      page.close()
    },
  }

  async function consoleUrl({ openPage }: AdminParts): Promise<string> {
    const base = await openPage()
    if (base !== undefined) return base
    throw new OperationError('this gate serves no page yet', 'try again in a moment')
  }
}

/** The Host has been found to be the gate's own. */
function relyingParty({ config, isPiped }: AdminParts, { headers }: IncomingMessage): RelyingParty {
  const { tls, publicUrl } = isPiped ? { tls: undefined, publicUrl: undefined } : config
  const scheme = tls === undefined ? 'http' : 'https'
  const { hostname, origin } = new URL(publicUrl ?? `${scheme}://${headers.host}`)
  return { id: hostname, origin }
}
