// What the running gate does for commands: each word of the control channel with the parts it works
// on. Put together once, when the gate starts.

import type { JsonObject } from '../../core/json.ts'
import { Refused } from '../../core/refused.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { GateConfig } from '../config.ts'
import type { Gate } from '../gate.ts'
import { acceptPins, heldPins } from './accept-pins.ts'
import { Control } from './control.ts'
import { freeze, thaw, told } from './freeze.ts'
import type { Freezes } from './freezes.ts'
import type { Pins } from './pins.ts'
import type { Policies } from './policies.ts'
import type { MetricsWriter } from './write-metrics.ts'

export interface CommandParts {
  readonly config: GateConfig
  readonly gate: Gate
  readonly ledger: Ledger
  readonly freezes: Freezes
  readonly policies: Policies
  readonly metrics: MetricsWriter
  readonly pins: Pins
  /** Looks at the policy files at once. */
  readonly reload: () => void
  /** What `/readyz` says. */
  readonly ready: () => { readonly ok: boolean; readonly why: string }
  /** Where clients reach it; empty until it serves. */
  readonly url: () => string
}

export function controlOf(parts: CommandParts): Control {
  const { config, freezes, gate, ledger, pins, policies, reload } = parts
  const accepting = { pins, ledger, changed: () => gate.policyChanged(), nowMs: Date.now }
  const freezing = {
    ...{ freezes, ledger, servers: Object.keys(config.servers) },
    interrupt: () => gate.interrupt(),
    nowMs: Date.now,
  }
  return new Control({
    freeze: (request) => freeze(freezing, request),
    thaw: (request) => thaw(freezing, request),
    status: () => status(parts),
    metrics: async () => ({ text: (await parts.metrics.write()).text }),
    'pin-accept': (request) => acceptPins(accepting, request),
    'pin-held': () => heldPins(parts),
    apply: (request) => {
      reload()
      return applyPolicy(policies, request)
    },
  })
}

/** Without a digest it only shows what would change. */
export function applyPolicy(
  policies: Policies,
  { digest }: JsonObject,
): JsonObject | Promise<JsonObject> {
  if (digest === undefined) return policies.preview()
  if (typeof digest === 'string') return policies.apply(digest)
  throw new Refused('`digest` is no text', 'ask without it first')
}

function status({ config, freezes, gate, ledger, policies, ready, url }: CommandParts): JsonObject {
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
    policy: policies.describe(),
    frozen: freezes.list.map(told),
    servers: Object.entries(config.servers).map(([name, { kind }]) => ({
      ...{ name, kind },
      ...gate.figures(name),
    })),
    ledger: { state: ledger.state, records: seq, commits, open, kept },
  }
}
