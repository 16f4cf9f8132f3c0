// The search: plays hostile sessions against the real policy, an order that a carrier brings, then a source, then the end,
// and keeps for each tool at the end the sequence whose calls are all allowed. Counts what it plays. Pure.

import { type KnownTool, toToolId } from '@sluice/policy/calls/tools'
import { ATTACK_TEXT, ATTACKS, type AttackKind, MARKER } from '@sluice/policy/cases/attack-answer'
import { findBranch, toSubject } from '@sluice/policy/cases/find-branch'
import { samples } from '@sluice/policy/cases/sample-calls'
import {
  playTrace,
  type SimulatedCall,
  type SimulationOptions,
} from '@sluice/policy/cases/simulate'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { getTrust } from '@sluice/policy/model/answer-trust'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { JsonObject } from '@sluice/policy/values/json'
import { THREAT_AMOUNTS_MAX, THREAT_PLAYS_MAX, THREAT_SEARCH_MS_MAX } from './limits.ts'
import { listCarriers, listEnds, listSources } from './list-steps.ts'
import { listPlayingOptions } from './playing.ts'
import { PRIVATE_TEXT } from './probes.ts'
import {
  type EndStep,
  HARMS,
  type Harm,
  type HarmResult,
  isSerious,
  REACHES,
  type ReadStep,
  type ThreatInputs,
  type ThreatPath,
  type ThreatReport,
  WRITERS,
} from './threat.ts'
import { isGuessedClass, namesSamePlace } from './tool-facts.ts'

const GUESS_FORMS: readonly AttackKind[] = ['plain', 'encoded']
/** What a user who has asked for nothing in particular may have said. */
const PROMPT = 'Summarize what is new today and tell me what to do next.'

/** `only`: these harms. */
export function findThreats(inputs: ThreatInputs, only: readonly Harm[] = HARMS): ThreatReport {
  const search = new ThreatSearch(inputs)
  const harms = only.map((harm) => search.search(harm))
  const { policy, tools } = inputs
  const unjudged = tools.filter(
    (tool) => tool.isClientTool !== true && isGuessedClass(policy, tool),
  )
  const { isCutShort } = search
  return {
    harms: isCutShort ? harms.map(toUnproved) : harms,
    unjudged: unjudged.map(toToolId),
    isCutShort,
  }
}

/** Not all was tried. */
function toUnproved(found: HarmResult): HarmResult {
  return found.result === 'closed' && found.toolCount > 0
    ? { ...found, result: 'none found' }
    : found
}

class ThreatSearch {
  isCutShort = false
  readonly #inputs: ThreatInputs
  readonly #options: Omit<SimulationOptions, 'attack'>
  /** How an order is hidden: where no rule reads where values came from, the plain one is as good as any. */
  readonly #forms: readonly AttackKind[]
  /** One for each that the policy can tell from the others, certain ones first. */
  readonly #carriers: readonly ReadStep[]
  readonly #allCarriers: readonly ReadStep[]
  readonly #sources: readonly ReadStep[]
  readonly #startedMs: number
  #plays = 0

  constructor(inputs: ThreatInputs) {
    this.#inputs = inputs
    this.#startedMs = inputs.nowMs()
    const { policy, tools } = inputs
    const known = new Map(tools.map((tool) => [toToolId(tool), tool]))
    const { provenance, labels } = findReads(policy)
    this.#forms = provenance || labels.has('injection') ? ATTACKS : ['plain']
    this.#options = {
      ...listPlayingOptions(policy),
      attackText: ATTACK_TEXT,
      hasPrompts: true,
      toolFor: (server, name) => known.get(`${server}/${name}`) as KnownTool,
    }
    this.#allCarriers = listCarriers(inputs).filter((one) => this.#play(undefined, [one]))
    this.#carriers = this.#pickDistinct(this.#allCarriers)
    this.#sources = this.#pickDistinct(
      listSources(inputs).filter((one) => this.#play(undefined, [one])),
    )
  }

  search(harm: Harm): HarmResult {
    const before = this.#plays
    const all = listEnds(this.#inputs, harm)
    const ends = all
      .filter(({ isBounded }) => !isBounded)
      .sort((a, b) => Number(a.guess !== undefined) - Number(b.guess !== undefined))
    const found = new Map<string, ThreatPath>()
    for (const end of ends) {
      const id = toToolId(end.tool)
      const known = found.get(id)
      if (known !== undefined && isSerious(known)) continue
      const path = this.#findPath(harm, end)
      if (path !== undefined && (known === undefined || compare(path, known) < 0))
        found.set(id, path)
    }
    const tools = new Set(ends.map(({ tool }) => tool))
    const isClosed = [...tools].every((tool) => this.#isClosed(tool))
    return {
      harm,
      result: found.size > 0 ? 'open' : isClosed ? 'closed' : 'none found',
      paths: [...found.values()].sort(compare),
      toolCount: tools.size,
      boundedCount: all.length - ends.length,
      playCount: this.#plays - before,
    }
  }

  /** No branch of any rule lets a call of the tool pass. */
  #isClosed(tool: KnownTool): boolean {
    const subject = toSubject(this.#inputs.policy, tool)
    return findBranch(subject, (action) => action === 'allow', {}) === undefined
  }

  /** The way to this end that begins with the text of the most people; by a mistake if no stranger's text comes in. */
  #findPath(harm: Harm, end: EndStep): ThreatPath | undefined {
    if (this.#isClosed(end.tool)) return undefined
    const isBack = end.reach === 'the place that the text came from'
    const carriers = isBack
      ? this.#allCarriers.filter((one) => isSamePlace(one, end))
      : this.#carriers
    const sources = end.needsSource ? this.#sources : [undefined]
    const isAlone = this.#carriers.length === 0
    for (const carrier of isAlone ? [undefined] : carriers)
      for (const source of sources)
        for (const args of harm === 'money' ? this.#listAmounts(end) : [end.args])
          for (const form of this.#listForms(carrier, source, end)) {
            const steps = [source, end.stage, { ...end, args }].filter((one) => one !== undefined)
            const calls = this.#play(carrier, steps, form)
            if (calls !== undefined)
              return toPath({ harm, end, form, calls, carrier, source, steps })
          }
    return undefined
  }

  /** A path that needs a guess is tried plainly and encoded alone: it fails nothing, and there are many. */
  #listForms(
    carrier: ReadStep | undefined,
    source: ReadStep | undefined,
    end: EndStep,
  ): readonly AttackKind[] {
    if (carrier === undefined) return ['plain']
    const isGuess = [carrier, source, end].some((one) => one?.guess !== undefined)
    return isGuess ? this.#forms.filter((form) => GUESS_FORMS.includes(form)) : this.#forms
  }

  /** The decisions, if every call is allowed. */
  #play(
    carrier: ReadStep | undefined,
    steps: readonly Pick<ReadStep, 'tool' | 'args'>[],
    attack: AttackKind = 'plain',
  ): readonly SimulatedCall[] | undefined {
    if (this.isCutShort) return undefined
    this.#plays++
    const tookMs = this.#inputs.nowMs() - this.#startedMs
    if (this.#plays > THREAT_PLAYS_MAX || tookMs > THREAT_SEARCH_MS_MAX) this.isCutShort = true
    const calls = steps.map((step) => toCall(step, PRIVATE_TEXT))
    const goal = steps.map(
      ({ tool, args }) => `call ${toToolId(tool)} with ${JSON.stringify(args)}`,
    )
    const trace = {
      id: 'hostile',
      prompt: PROMPT,
      steps: carrier === undefined ? calls : [toCall(carrier, MARKER)],
    }
    const injection =
      carrier === undefined ? undefined : { id: 'order', goal: goal.join(', then '), steps: calls }
    const played = playTrace(this.#inputs.policy, trace, injection, { ...this.#options, attack })
    return played.calls.every(({ action }) => action === 'allow') ? played.calls : undefined
  }

  /** The arguments with each boundary value that a rule of the tool reads, the largest amounts first. */
  #listAmounts({ tool, args }: EndStep): JsonObject[] {
    const all: JsonObject[] = [args]
    const scope = getRulesForTool(this.#inputs.policy, tool)
    for (const { args: sampled } of samples(tool, scope, { fixed: { saw: [] } })) {
      all.push({ ...args, ...sampled })
      if (all.length >= THREAT_AMOUNTS_MAX) break
    }
    return all.sort((one, other) => largest(other) - largest(one))
  }

  #pickDistinct(steps: readonly ReadStep[]): ReadStep[] {
    const { policy } = this.#inputs
    const rank = ({ guess, writer }: ReadStep) =>
      (guess === undefined ? 0 : WRITERS.length) + (writer ? WRITERS.indexOf(writer) : 0)
    const distinct = new Map<string, ReadStep>()
    for (const step of [...steps].sort((a, b) => rank(a) - rank(b))) {
      const { server, name } = step.tool.definition
      const labels = policy.labels.all(server, name).flat().sort()
      const trust = getTrust(policy, { server, name, method: TOOL_CALL })
      const key = JSON.stringify([step.writer, step.guess === undefined, labels, trust])
      if (!distinct.has(key)) distinct.set(key, step)
    }
    return [...distinct.values()]
  }
}

function isSamePlace({ tool }: ReadStep, end: EndStep): boolean {
  const isOfServer = tool.definition.server === end.tool.definition.server
  return isOfServer && namesSamePlace(tool, end.tool)
}

function toCall({ tool, args }: Pick<ReadStep, 'tool' | 'args'>, answer: string) {
  const { server, name } = tool.definition
  return { server, tool: name, args, answer }
}

function largest(args: JsonObject): number {
  return Math.max(0, ...Object.values(args).filter((value) => typeof value === 'number'))
}

interface FoundPath {
  readonly harm: Harm
  readonly end: EndStep
  readonly form: AttackKind
  readonly calls: readonly SimulatedCall[]
  readonly carrier: ReadStep | undefined
  readonly source: ReadStep | undefined
  /** What follows the carrier. */
  readonly steps: readonly Pick<ReadStep, 'tool' | 'args' | 'does'>[]
}

function toPath({ harm, end, form, calls, carrier, source, steps }: FoundPath): ThreatPath {
  const all = carrier === undefined ? steps : [carrier, ...steps]
  const writer = carrier?.writer
  const guesses = [carrier?.guess, source?.guess, end.guess].filter((one) => one !== undefined)
  return {
    harm,
    end: toToolId(end.tool),
    ...(writer === undefined ? {} : { writer }),
    reach: end.reach,
    form,
    steps: all.map(({ tool, args, does }, index) => ({
      tool: toToolId(tool),
      args,
      rule: calls[index]?.rule ?? '',
      does,
    })),
    guesses: [...new Set(guesses)],
  }
}

/** The worst first: certain, begun by the most people, short, far, plain. */
function compare(one: ThreatPath, other: ThreatPath): number {
  const rank = ({ guesses, writer, steps, reach, form }: ThreatPath) => [
    guesses.length === 0 ? 0 : 1,
    writer === undefined ? WRITERS.length : WRITERS.indexOf(writer),
    steps.length,
    REACHES.indexOf(reach),
    ATTACKS.indexOf(form),
  ]
  const others = rank(other)
  return (
    rank(one)
      .map((value, index) => value - (others[index] ?? 0))
      .find((by) => by !== 0) ?? 0
  )
}
