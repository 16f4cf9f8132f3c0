// The service as callers use it in a cluster: a method that names an agent runs at the gate that runs the agent.
// Everything else runs here, on the rows that all gates share. Progress is not reported across gates.

import { randomUUID } from 'node:crypto'
import type { SharedAgents } from '../../store/postgres/shared-agents.ts'
import { recoverEffects, type TurnContext } from '../runs/run-turn.ts'
import type { OwnerOperations } from '../step-thread/owner-operations.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { AgentCluster } from './agent-cluster.ts'
import type { Service } from './service.ts'
import type { PromptArguments, ServiceOptions } from './service-types.ts'

/** Where the id of the agent is among the arguments. */
type ArgumentPositions<Methods> = { readonly [Name in keyof Methods]?: number }

const SERVICE: ArgumentPositions<Service> = {
  prompt: 1,
  wait: 1,
  callTool: 1,
  stop: 1,
  pause: 1,
  resume: 1,
  reset: 1,
  terminate: 1,
  fork: 1,
  move: 1,
  ask: 1,
  export: 1,
  cancel: 0,
}
const STEPS = {
  standing: 1,
  addLabels: 1,
  look: 0,
  replay: 1,
  history: 1,
  historyStart: 1,
  run: 1,
  runOf: 1,
  files: 1,
  fileAt: 0,
} satisfies ArgumentPositions<Steps>

/** Rows that every gate reads and writes; and what only the service asks for, at the gate that runs the agent. */
type LocalStep =
  | keyof OwnerOperations
  | (
      | 'labelsOf'
      | 'list'
      | 'listAll'
      | 'idlePrograms'
      | 'modelUsage'
      | 'acquire'
      | 'takeOver'
      | 'close'
    )
  | (
      | 'create'
      | 'planImport'
      | 'import'
      | 'apply'
      | 'move'
      | 'ask'
      | 'prepareTurn'
      | 'fork'
      | 'remove'
    )
  | ('takeExport' | 'openEffects' | 'beginEffect' | 'holdEffect' | 'chargeFamily' | 'chargeCall')
  | ('appendProgramEvent' | 'programEvents' | 'programFiles' | 'due' | 'postpone' | 'nextWake')
/** An operation that is new belongs to one of the two: this line does not compile otherwise. */
type IsComplete = Exclude<keyof Steps, keyof typeof STEPS | LocalStep> extends never ? true : never
const IS_COMPLETE: IsComplete = true
/** A prompt is, by the name of its request. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'prompt',
  'wait',
  'ask',
  'export',
  'cancel',
  'stop',
  'pause',
  ...Object.keys(STEPS),
])
const STEPS_PREFIX = 'steps.'

type Method = (...values: unknown[]) => Promise<unknown>

export function routeService(service: Service, cluster: AgentCluster): Service {
  const steps = IS_COMPLETE && route(service.steps as object, STEPS, STEPS_PREFIX, cluster)
  const routed = route(service, SERVICE, '', cluster)
  return new Proxy(routed, {
    get: (target, name) => (name === 'steps' ? steps : Reflect.get(target, name)),
  })
}

export interface ClusterMember {
  readonly service: Service
  readonly turns: TurnContext
  readonly lease: string
  readonly resume: ServiceOptions['resume']
}

/** The agents of this gate as part of those of all gates. */
export function joinAgentCluster(
  { clockFault, connections, requestKey: key }: SharedAgents,
  { service, turns, lease, resume }: ClusterMember,
): AgentCluster {
  const { steps, running, timer, warn } = turns
  return new AgentCluster({
    clockFault,
    connections,
    key,
    lease,
    steps,
    warn,
    serve: (method, values) => serveRouted(service, method, values),
    onTaken: async (agents) => {
      const taken = agents && new Set(agents)
      if (resume !== 'ask')
        await recoverEffects(turns, (id) => taken === undefined || taken.has(id))
      await timer.arm()
    },
    onFenced: () => running.cancelEverything(),
  })
}

/** What another gate asks of this one. */
function serveRouted(
  service: Service,
  method: string,
  values: readonly unknown[],
): Promise<unknown> {
  const isStep = method.startsWith(STEPS_PREFIX)
  const name = isStep ? method.slice(STEPS_PREFIX.length) : method
  const places: object = isStep ? STEPS : SERVICE
  if (!Object.hasOwn(places, name)) throw new Error(`\`${method}\` is not asked across gates`)
  const target = (isStep ? service.steps : service) as unknown as Record<string, Method>
  return (target[name] as Method).apply(target, [...values])
}

function route<Target extends object>(
  target: Target,
  places: Readonly<Record<string, number | undefined>>,
  prefix: string,
  cluster: AgentCluster,
): Target {
  const routed = new Map<string | symbol, unknown>()
  const make = (name: string | symbol): unknown => {
    const found = Reflect.get(target, name, target) as unknown
    if (typeof found !== 'function') return found
    const method = found.bind(target) as Method
    const place = typeof name === 'string' && Object.hasOwn(places, name) ? places[name] : undefined
    if (place === undefined || typeof name !== 'string') return method
    return (...values: unknown[]) => {
      const args = name === 'prompt' ? withRequestId(values) : values
      const signal = args.find((value) => value instanceof AbortSignal)
      const request = {
        method: `${prefix}${name}`,
        values: args.map((value) => (isPlain(value) ? value : undefined)),
        isRepeatable: REPEATABLE.has(name),
      }
      return cluster.run(String(args[place]), request, () => method(...args), signal)
    }
  }
  return new Proxy(target, {
    get: (_, name) => {
      if (name === 'then') return undefined
      const known = routed.get(name) ?? make(name)
      if (typeof known === 'function') routed.set(name, known)
      return known
    },
  })
}

/** So that a gate that takes over finds the run that another one began. */
function withRequestId([owner, id, prompt, ...rest]: unknown[]): unknown[] {
  return [owner, id, { requestId: randomUUID(), ...(prompt as PromptArguments) }, ...rest]
}

/** A signal and a listener stay where they are. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  return (
    !(value instanceof AbortSignal) &&
    Object.values(value).every((each) => typeof each !== 'function')
  )
}
