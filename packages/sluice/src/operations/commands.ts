// What the running gate does for commands: each word of the control channel with the parts it works
// on. Put together once, when the gate starts.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import { policyNames } from '../gateway/config/grants.ts'
import { CommandRegistry } from '../gateway/front/socket/command-registry.ts'
import { APPROVALS_TOLD_MAX } from '../gateway/shared/limits.ts'
import type { CommandParts } from '../gateway/start/run-admin.ts'
import type { Policies } from '../gateway/state/policies.ts'
import type { ActiveLockFile } from '../gateway/tools/active-lock-file.ts'
import type { ServerFailure } from '../gateway/tools/server-notes.ts'
import { processClock } from '../store/process-clock.ts'
import { acceptPins, heldPins, refusePins } from './accept-pins.ts'
import { createApprovalCommands } from './approval-commands.ts'
import { freeze, thaw, toFreezeView } from './freeze.ts'
import { addGrant, revokeGrant } from './grant-commands.ts'
import { createPeopleCommands, listPeople } from './people-commands.ts'
import { createServerCommands } from './server-commands.ts'
import { endSession, listSessions, toSessionView } from './session-commands.ts'
import { trustKey } from './trust-key.ts'
import { createPersonVerifier, REQUIRED_ROLES, type VerifyPerson } from './verify-person.ts'

export function createCommands(parts: CommandParts): CommandRegistry {
  const { config, freezes, gate, ledger, log, people, pins, policies, reload } = parts
  const accepting = { pins, ledger, changed: () => gate.policyChanged(), nowMs: Date.now }
  const freezing = {
    ...{ freezes, ledger, servers: () => parts.servers.names },
    interrupt: () => gate.interrupt(),
    nowMs: Date.now,
  }
  const proving = { people, ledger, nowMs: processClock.nowMs }
  const prove = createPersonVerifier(proving)
  const granting = {
    ...{ grants: parts.grants, ledger, policies: policyNames(config), nowMs: Date.now },
    changed: () => parts.door.onChange(),
  }
  const deciding = { ...proving, prove, tell: (what: string) => log('warn', what) }
  return new CommandRegistry(
    {
      freeze: (request) => freeze(freezing, request),
      thaw: async (request) =>
        thaw(freezing, request, await prove(request, REQUIRED_ROLES.thaw, 'thaw')),
      status: () => status(parts),
      metrics: async () => ({ text: (await parts.metrics.write()).text }),
      'pin-accept': async (request) =>
        acceptPins(accepting, request, await prove(request, REQUIRED_ROLES.pins, 'pin --accept')),
      'pin-refuse': async (request) =>
        refusePins(accepting, request, await prove(request, REQUIRED_ROLES.pins, 'pin --refuse')),
      'pin-held': () => heldPins(parts),
      apply: async (request) => {
        await reload()
        return applyPolicy({ policies, lock: parts.lock }, request, prove)
      },
      ...createPeopleCommands(deciding),
      ...createApprovalCommands(parts.approvals, prove),
      sessions: () => listSessions(gate),
      'session-end': async (request) =>
        endSession(
          { sessions: gate.sessions, ledger, nowMs: Date.now },
          request,
          await prove(request, REQUIRED_ROLES.sessions, 'sessions end'),
        ),
      ...serverCommands(parts, prove),
      'grant-add': async (request) =>
        addGrant(granting, request, await prove(request, REQUIRED_ROLES.grants, 'grants add')),
      'grant-revoke': async (request) =>
        revokeGrant(
          granting,
          request,
          await prove(request, REQUIRED_ROLES.grants, 'grants revoke'),
        ),
      'agents-trust': async (request) =>
        trustKey(
          { directory: config.data, ledger, nowMs: Date.now },
          request,
          await prove(request, REQUIRED_ROLES.trust, 'agents trust'),
        ),
    },
    parts.words,
  )
}

function serverCommands(parts: CommandParts, prove: VerifyPerson) {
  const { config, gate, ledger, parseConfig, servers } = parts
  if (parseConfig === undefined) return {}
  const running = { servers, gate }
  const own = { file: config.file, parse: parseConfig, ledger, nowMs: Date.now, running }
  return createServerCommands(own, prove)
}

/** Without a digest it only shows what would change. */
export async function applyPolicy(
  { policies, lock }: { readonly policies: Policies; readonly lock: ActiveLockFile },
  request: JsonObject,
  prove: VerifyPerson,
): Promise<JsonObject> {
  const { digest, lock: pins } = request
  if (digest === undefined && pins === undefined)
    return { ...policies.preview(), lock: lock.preview() }
  if (![digest, pins].every((one) => one === undefined || typeof one === 'string'))
    throw new OperationError('`digest` is no text', 'ask without it first')
  const by = await prove(request, REQUIRED_ROLES.apply, 'policy apply')
  if (typeof pins === 'string') await lock.apply(pins, by)
  return typeof digest === 'string' ? policies.apply(digest, by) : policies.describe()
}

/** Why a server does not answer; a login that is missing is told with the command. */
function failureOf(failure: ServerFailure | undefined): JsonObject {
  if (failure === undefined) return {}
  const { code, message, help } = failure
  const fails = [message, help].filter(Boolean).join(': ')
  return { code, fails }
}

function leftOutOf(why: string | undefined): JsonObject {
  return why === undefined ? {} : { leftOut: why }
}

function status(parts: CommandParts): JsonObject {
  const { config, freezes, gate, ledger, policies, ready, url } = parts
  const { ok, why } = ready()
  const { commits, seq, open, kept } = ledger.figures
  return {
    running: true,
    pid: process.pid,
    upSeconds: Math.round(process.uptime()),
    url: url(),
    data: config.data,
    ready: ok,
    why,
    policy: { ...policies.describe(), isFirstPolicy: policies.isFirst },
    frozen: freezes.list.map(toFreezeView),
    waiting: parts.approvals.list({ states: ['pending'], limit: APPROVALS_TOLD_MAX }).length,
    ...listPeople({ people: parts.people }),
    servers: parts.servers.entries.map(([name, { kind }]) => ({
      ...{ name, kind },
      ...gate.figures(name),
      ...failureOf(gate.failureOf(name)),
      ...leftOutOf(gate.limitMetBy(name)),
    })),
    pendingServers: parts.servers.pending.map(({ name, how }) => ({ name, how })),
    sessions: gate.sessions.list().map(toSessionView),
    ledger: { state: ledger.state, records: seq, commits, open, kept },
  }
}
