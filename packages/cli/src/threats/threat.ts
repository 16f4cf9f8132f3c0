// The words of a search for threats: harms, who can begin them, what is known of a server, and what is found.

import type { KnownTool } from '@sluice/policy/calls/tools'
import type { AttackKind } from '@sluice/policy/cases/attack-answer'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'

/** What can happen, as `--fail-on` and `--close` name it, the worst first. */
export const HARMS = ['secret', 'money', 'code', 'gate', 'data', 'message'] as const
export type Harm = (typeof HARMS)[number]

export const HARM_TITLES: Readonly<Record<Harm, string>> = {
  secret: 'secret leaves',
  money: 'money moves',
  code: 'code runs',
  gate: 'gate off',
  data: 'data destroyed',
  message: 'message sent',
}

/** Who can put a text where a tool reads it, the most people first. */
export const WRITERS = [
  'anybody',
  'whoever can write to you',
  'whoever wrote a file you have',
] as const
export type Writer = (typeof WRITERS)[number]

/** Who gets what the last call sends, or where it acts; the worst first. */
export const REACHES = [
  'an address of their choice',
  'the place that the text came from',
  'this machine',
  'its server',
] as const
export type Reach = (typeof REACHES)[number]

/** What the last call of a path is for. */
export const DOES: Readonly<Record<Harm, string>> = {
  secret: 'sends it out',
  money: 'moves money',
  code: 'has it run later',
  gate: 'takes the gate out of the way',
  data: 'destroys',
  message: 'speaks in your name',
}

/** What the configuration says of a server. Folders are absolute; undefined is no bound. */
export interface ThreatServer {
  /** A coding client with hooks, a process of this machine, a server at an address. Undefined: nobody knows. */
  readonly kind?: 'client' | 'process' | 'remote'
  /** The only folders that it can read. */
  readonly reads?: readonly string[]
  /** The only folders that it can write. */
  readonly writes?: readonly string[]
  /** The only hosts that it can reach; of a client, those that lines in its box can. `*` is any. */
  readonly hosts?: readonly string[]
  /** A client whose lines run in a box. */
  readonly hasBox?: boolean
}

export interface ThreatInputs {
  readonly policy: CompiledPolicy
  readonly tools: readonly KnownTool[]
  readonly servers: Readonly<Record<string, ThreatServer>>
  /** The folders that stand for a user's home directory and project in the calls. */
  readonly home: string
  readonly project: string
  /** A clock that only goes forward. */
  readonly nowMs: () => number
}

/** A call that brings something into the session. */
export interface ReadStep {
  readonly tool: KnownTool
  readonly args: JsonObject
  /** Of a carrier: who can write what it answers. */
  readonly writer?: Writer
  readonly does: string
  /** What is assumed of the tool; undefined if it is certain. */
  readonly guess?: string
}

/** A call that does a harm. */
export interface EndStep {
  readonly tool: KnownTool
  readonly args: JsonObject
  readonly reach: Reach
  readonly does: string
  readonly needsSource: boolean
  /** A call that writes a file which this one runs. */
  readonly stage?: ReadStep
  readonly guess?: string
  /** Isolation refuses it, whatever the policy says. */
  readonly isBounded: boolean
}

/** One call of a path. */
export interface PathStep {
  /** `<server>/<tool>`. */
  readonly tool: string
  readonly args: JsonObject
  /** The rule that allows it. */
  readonly rule: string
  /** What the call is for, in words. */
  readonly does: string
}

/** Calls that the policy lets pass without a person, and that end in a harm. */
export interface ThreatPath {
  readonly harm: Harm
  /** `<server>/<tool>` of the last call. */
  readonly end: string
  /** Undefined: no text of a stranger gets in, so it would be a mistake of the agent. */
  readonly writer?: Writer
  readonly reach: Reach
  /** How the order is written into the text that the first call brings. */
  readonly form: AttackKind
  readonly steps: readonly PathStep[]
  /** What is assumed of tools, by their names alone. Empty: every fact is certain. */
  readonly guesses: readonly string[]
}

export interface HarmResult {
  readonly harm: Harm
  /** Calls are there; no branch of any rule lets an end pass; none was found, which proves nothing. */
  readonly result: 'open' | 'closed' | 'none found'
  /** One for each tool at the end, the worst first. */
  readonly paths: readonly ThreatPath[]
  /** Tools that could do it, as far as is known. */
  readonly toolCount: number
  /** Ways that isolation stops, whatever the policy says. */
  readonly boundedCount: number
  /** Sequences that were played. */
  readonly playCount: number
}

export interface ThreatReport {
  readonly harms: readonly HarmResult[]
  /** Tools whose class is a guess: what they end in is not judged. */
  readonly unjudged: readonly string[]
  /** The bound on plays or time was reached: nothing is closed then. */
  readonly isCutShort: boolean
}

/** Whether a stranger can start it, and nothing about it is a guess. */
export function isSerious({ writer, guesses }: ThreatPath): boolean {
  return writer !== undefined && guesses.length === 0
}
