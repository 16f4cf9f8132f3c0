// The smallest change of a document that closes a harm: candidates from the narrowest on, each compiled and searched again.
// One is offered only if nothing of this harm is left and no other harm opens by it.

import { argumentsOf } from '@sluice/catalogue/classify/flows'
import { type KnownTool, toToolId } from '@sluice/policy/calls/tools'
import { addGuardrail, addToLists, setProtect } from '@sluice/policy/change/add-entries'
import { loosenings } from '@sluice/policy/change/compare'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { isPathName } from '@sluice/policy/provenance/names'
import { THREAT_CLOSING_MS_MAX } from './limits.ts'
import { listCarriers, listSources } from './list-steps.ts'
import { START_FILES } from './probes.ts'
import { findThreats } from './search-paths.ts'
import { HARM_TITLES, HARMS, type Harm, type HarmResult, type ThreatInputs } from './threat.ts'
import { findShellArgument } from './tool-facts.ts'

/** A document that closes a harm. */
export interface ClosingChange {
  /** For people. */
  readonly what: string
  /** The whole document, comments kept. */
  readonly text: string
  readonly policy: CompiledPolicy
  /** Every call is decided as strictly as before or more so. Otherwise a person has to agree to it. */
  readonly isOnlyStricter: boolean
}

/** The document that is to be changed. */
export interface OpenDocument {
  readonly file: string
  readonly text: string
  /** A base policy over it, which stays. */
  readonly base?: CompiledPolicy
}

interface Candidate {
  readonly what: string
  readonly text: string | undefined
}

export interface ClosingOptions {
  readonly document: OpenDocument
  /** The harm to close. */
  readonly found: HarmResult
  /** All harms that are open now. */
  readonly open: ReadonlySet<Harm>
  /** By `<server>/<tool>`: the hosts that recorded calls have named. */
  readonly hosts: ReadonlyMap<string, readonly string[]>
  /** How many changes are wanted. */
  readonly max: number
}

/** A change that was tried and is not offered. */
export interface RejectedChange {
  /** For people. */
  readonly what: string
  readonly why: string
}

export interface TriedChanges {
  /** Those that close the harm, the narrowest first. */
  readonly closings: readonly ClosingChange[]
  /** Those that were tried before the last of them. */
  readonly rejected: readonly RejectedChange[]
}

/** Tries changes that may close a harm, until as many as are wanted do. */
export function listClosings(inputs: ThreatInputs, options: ClosingOptions): TriedChanges {
  const { document, found, hosts, max } = options
  const beganMs = inputs.nowMs()
  const closings: ClosingChange[] = []
  const rejected: RejectedChange[] = []
  for (const { what, text } of listCandidates(inputs, document.text, { found, hosts })) {
    if (closings.length >= max) break
    if (text === undefined) continue
    if (inputs.nowMs() - beganMs > THREAT_CLOSING_MS_MAX) {
      rejected.push({ what, why: 'there was no time left to try it' })
      continue
    }
    const tried = tryChange(inputs, text, options)
    if (typeof tried === 'string') rejected.push({ what, why: tried })
    else closings.push({ what, text, ...tried })
  }
  return { closings, rejected }
}

/** Why it is not offered, or what it does. */
function tryChange(
  inputs: ThreatInputs,
  text: string,
  { document: { base, file }, found, open }: ClosingOptions,
): string | Pick<ClosingChange, 'policy' | 'isOnlyStricter'> {
  // Without the tools, as the document itself was compiled: it may name some that are not there.
  const { policy, problems } = compile({ file, text }, base === undefined ? {} : { base })
  if (policy === undefined)
    return `it does not compile: ${problems.find(({ severity }) => severity === 'error')?.message}`
  const changed = { ...inputs, policy: toEnforced(policy) }
  // This harm first: most candidates fail here.
  const [own] = findStillOpen(changed, [found.harm])
  if (own !== undefined) return own
  const [other] = findStillOpen(
    changed,
    HARMS.filter((harm) => !open.has(harm)),
  )
  if (other !== undefined) return other
  return { policy, isOnlyStricter: loosenings(inputs.policy, toEnforced(policy)).length === 0 }
}

/** For each harm that is open: how. */
function findStillOpen(inputs: ThreatInputs, wanted: readonly Harm[]): string[] {
  const { harms, isCutShort } = findThreats(inputs, wanted)
  if (isCutShort) return ['not everything was tried']
  return harms
    .filter(({ result }) => result === 'open')
    .map(({ harm, paths }) => `\`${harm}\` is open by ${paths[0]?.end}`)
}

/** A document that only observes, as if it was enforced. */
export function toEnforced(policy: CompiledPolicy): CompiledPolicy {
  return policy.shadow ? { ...policy, shadow: false } : policy
}

function listCandidates(
  inputs: ThreatInputs,
  text: string,
  { found, hosts }: Pick<ClosingOptions, 'found' | 'hosts'>,
): Candidate[] {
  const ends = found.paths.map(({ end }) => end)
  const title = HARM_TITLES[found.harm]
  const asks = `${ends.length === 1 ? 'this tool asks' : `these ${ends.length} tools ask`}`
  const ofFiles = railsOnFiles(inputs, ends)
  const ofShells = railsOnShells(inputs, ends)
  const files = ofFiles.length === 0 ? undefined : addRails(text, ofFiles, 'start files')
  const both = [...ofFiles, ...ofShells]
  const isCovered = both.flatMap(({ tools }) => tools).length === ends.length
  return [
    { what: 'guardrail: writing a file that starts programs asks', text: files },
    {
      what: 'guardrail: a command line that does more than read asks',
      text: ofShells.length > 0 && isCovered ? addRails(text, both, title) : undefined,
    },
    { what: `after a stranger's text ${asks}`, text: afterStrangers(inputs, text, found, ends) },
    { what: 'egress: only the hosts on record', text: keepHosts(inputs, text, { found, hosts }) },
    {
      what: 'protect: balanced',
      text: inputs.policy.protect === undefined ? setProtect(text, 'balanced') : undefined,
    },
    {
      what: 'protect: strict',
      text: inputs.policy.protect === 'strict' ? undefined : setProtect(text, 'strict'),
    },
    { what: `${asks} every time`, text: addRails(text, [{ tools: ends }], title) },
  ]
}

interface Rail {
  readonly tools: readonly string[]
  readonly when?: string
}

function addRails(text: string, rails: readonly Rail[], name: string): string | undefined {
  let changed: string | undefined = text
  for (const [index, rail] of rails.entries()) {
    if (changed === undefined) return undefined
    changed = addGuardrail(changed, {
      ...rail,
      name: `threats: ${name}${rails.length > 1 ? ` ${index + 1}` : ''}`,
      action: 'require_approval',
      reason: 'a stranger could have asked for it',
    })
  }
  return changed
}

/** One for each name that the argument with the path has. */
function railsOnFiles(inputs: ThreatInputs, ends: readonly string[]): Rail[] {
  return groupBy(inputs, ends, (tool) => {
    if (tool.isClientTool === true && tool.definition.name === 'apply_patch')
      return `args.paths.exists(file, file.matches(${JSON.stringify(START_FILES)}))`
    const name = argumentsOf(tool.definition).find((one) => one !== 'cwd' && isPathName(one))
    return name === undefined || findShellArgument(tool) !== undefined
      ? undefined
      : `args.${name}.matches(${JSON.stringify(START_FILES)})`
  })
}

function railsOnShells(inputs: ThreatInputs, ends: readonly string[]): Rail[] {
  return groupBy(inputs, ends, (tool) => {
    const name = findShellArgument(tool)
    return name === undefined ? undefined : `!shell(args.${name}).reads()`
  })
}

function groupBy(
  { tools }: ThreatInputs,
  ends: readonly string[],
  write: (tool: KnownTool) => string | undefined,
): Rail[] {
  const rails = new Map<string, string[]>()
  for (const tool of tools) {
    const id = toToolId(tool)
    const when = ends.includes(id) ? write(tool) : undefined
    if (when !== undefined) rails.set(when, [...(rails.get(when) ?? []), id])
  }
  return [...rails].map(([when, ids]) => ({ tools: ids, when }))
}

/** Asks once the session has read what a stranger can have written, and for a leak what is private. */
function afterStrangers(
  inputs: ThreatInputs,
  text: string,
  { harm }: HarmResult,
  ends: readonly string[],
): string | undefined {
  const labels = new Map<string, string[]>()
  const mark = (tool: KnownTool, label: string): void => {
    const { server, name } = tool.definition
    const id = toToolId(tool)
    const given = labels.get(id) ?? []
    const has = inputs.policy.labels.all(server, name).flat().includes(label)
    if (!has && !given.includes(label)) labels.set(id, [...given, label])
  }
  for (const { tool } of listCarriers(inputs)) mark(tool, 'untrusted')
  if (harm === 'secret') for (const { tool } of listSources(inputs)) mark(tool, 'private')
  const when = `session.saw.untrusted${harm === 'secret' ? ' && session.saw.private' : ''}`
  const railed = addRails(text, [{ tools: ends, when }], HARM_TITLES[harm])
  return railed === undefined ? undefined : addToLists(railed, 'labels', labels)
}

/** A tool that sends to any address keeps to those of its past calls. Undefined if one has none, or a list already. */
function keepHosts(
  { policy, tools }: ThreatInputs,
  text: string,
  { found, hosts }: Pick<ClosingOptions, 'found' | 'hosts'>,
): string | undefined {
  const lists = new Map<string, readonly string[]>()
  for (const tool of tools) {
    const { server, name } = tool.definition
    const id = toToolId(tool)
    if (!found.paths.some(({ end }) => end === id)) continue
    const known = hosts.get(id)
    if (known === undefined || policy.egress.all(server, name).length > 0) return undefined
    lists.set(id, known)
  }
  return addToLists(text, 'egress', lists)
}
