// What the console asks of the gate beside people and approvals, as data: calls as they pass, servers
// and tools, policy, agents, ledger, settings. Types only: the console imports nothing else of src/.
// Texts of servers, tools and agents in here are untrusted; the console shows them as text.

import type { Action } from '@sluice/policy/core/actions'
import type { GuardrailMatch, ShadowDecision } from '@sluice/policy/core/decision'
import type { Problem } from '@sluice/policy/document/problem'
import type { AnswerChange } from '../../core/answer-changes.ts'
import type { PendingServerView } from './contract.ts'
import type { LiveRow } from './contract-live.ts'

// ---- Recorded calls

export interface CallRecord extends LiveRow {
  readonly seq: number
  /** Where gates share a store: whose record it is, and its number in the chain of that gate. */
  readonly origin?: { readonly gate: string; readonly seq: number }
  /** The client of the session, marked as self-reported; missing if the ledger does not say. */
  readonly sessionName?: string
  /** The call of `run_code` whose program made it. */
  readonly parent?: string
  /** The line of a shell command, if the ledger stores it. */
  readonly commandLine?: string
  /** What rules in shadow mode would have done; empty if none matched. */
  readonly shadowText?: string
  readonly kind: string
  readonly policy: string
  readonly argsDigest: string | null
  /** That its answer brought into the session. */
  readonly labels: readonly string[]
  /** Arguments that rules read, by path: numbers and short texts. */
  readonly values: Readonly<Record<string, number | string>>
}

export interface CallExplanation extends CallRecord {
  readonly guardrails: readonly (Omit<GuardrailMatch, 'action'> & {
    readonly action: Action | null
  })[]
  readonly limits: readonly {
    readonly key: string
    /** The key in words: the rule, and whose counter it is; the window is 0 if it does not say. */
    readonly limit: string
    readonly whose: string
    readonly windowMs: number
    readonly amount: string
    readonly max: string
  }[]
  readonly shadow: readonly Pick<ShadowDecision, 'rule' | 'action' | 'reason'>[]
  /** The arguments that the verdict was reached from, by path; others are not kept. */
  readonly judged: readonly { readonly path: string; readonly value: string }[]
  readonly outcome: {
    readonly seq: number
    readonly atMs: number
    readonly status: string
    readonly durationMs: number
    readonly bytes: number
    readonly errorCode: number | null
    readonly labels: readonly string[]
    readonly attempts: number
    readonly givenBack: boolean
    /** What `answers` of the policy changed in the response: kinds and counts. */
    readonly changes: readonly AnswerChange[]
  } | null
  /** The rule as written in the document in force, if it is still there. */
  readonly ruleText: { readonly file: string; readonly line: number; readonly text: string } | null
}

export interface LedgerPage {
  readonly calls: readonly CallRecord[]
  readonly next: number | null
  /** The newest records, so many, were not searched: they are being indexed. 0 if all were. */
  readonly behind: number
  /** Where gates share a store: why records may be missing. */
  readonly notFollowed?: string
  /** Only calls up to this time were searched for the text: `next` goes on from there. */
  readonly searchedToMs?: number
  /** So many values were looked at for a part of a page in the order of a value: `next` goes on. */
  readonly looked?: number
}

export interface LedgerEvents {
  readonly events: readonly {
    readonly seq: number
    readonly origin?: CallRecord['origin']
    readonly atMs: number
    readonly name: string
    readonly detail: string
  }[]
  readonly notFollowed?: string
}

/** `POST /api/ledger/verify`. */
export interface VerificationView {
  /** Where gates share a store: whose chain was verified, and the gates whose chains were not; null if the
   * store does not say which there are. */
  readonly gate?: string
  readonly notVerified?: readonly string[] | null
  readonly ok: boolean
  readonly records: number
  /** The newest record that a signed checkpoint covers; 0 if there is none. */
  readonly signedUpTo: number
  readonly durationMs: number
  /** If it does not fit together, and how. */
  readonly says: string
}

// ---- Servers, tools, pins

export interface ServerView {
  readonly name: string
  readonly kind: string
  /** The command or address, without what is secret. */
  readonly where: string
  /** What its process may do; empty if the gate starts none. */
  readonly sandbox: string
  /** Which token it is called with, until when, and the last refusal; empty if it needs none. */
  readonly credential: string
  /** Hosts that it tried and that its sandbox does not name. */
  readonly refusedHosts: readonly string[]
  readonly state: 'up' | 'idle' | 'starting' | 'failing' | 'needs login' | 'frozen'
  readonly why: string
  readonly sessions: number
  readonly openRequests: number
  readonly tools: number
  /** Its tools were listed since the gate started. */
  readonly listed: boolean
  /** Tools that appeared after its first list, and that a person has yet to look at. */
  readonly new: number
  readonly held: number
  /** Of those held, the ones that still need a decision. */
  readonly undecided: number
}

export interface ServersView {
  readonly servers: ServerView[]
  readonly pending: PendingServerView[]
  /** Why processes of servers are not isolated; empty if they are. */
  readonly unconfined: string
}

/** A tool, and its class. */
interface ClassifiedTool {
  readonly server: string
  readonly name: string
  readonly category: string
  /** The class is a guess, and so is the risk. */
  readonly unknown: boolean
}

export interface ToolView extends ClassifiedTool {
  readonly risk: string
  /** Of a plain call by the local user. */
  readonly verdict: Action | 'depends'
  readonly reason: string
  readonly held: boolean
  /** Held, and a person does not want it. */
  readonly refusedBy: string | null
  /** When it appeared on a server that was known before, until a person has seen it; else null. */
  readonly newMs: number | null
}

/** Its category is the one that the policy of the local user decides by. */
export interface ToolPage extends ClassifiedTool {
  readonly title: string
  readonly description: string
  /** If `classify` of that policy says the category: that of the catalogue. */
  readonly inCatalogue: string | null
  readonly risk: string
  readonly riskBecause: string
  readonly inputSchema: string
  readonly annotations: string
  readonly confidence: number
  readonly evidence: readonly {
    readonly text: string
    readonly at: string
    readonly says: string
  }[]
  readonly disagreements: readonly string[]
  /** The catalogue's page, as lines of Markdown; shown as text. */
  readonly page: string
}

export interface PendingDefinitionsView {
  readonly held: readonly PendingDefinitionView[]
  /** How many others wait; absent if there are none. */
  readonly more?: number
}

export interface PendingDefinitionView extends ClassifiedTool {
  readonly because: string
  readonly changes: readonly string[]
  /** Definitions as text, one member a line; `before` is empty if none was accepted. */
  readonly before: string
  readonly after: string
  /** Words to the model, hidden text and the like in the new definition: it looks like an attack. */
  readonly dangers: readonly {
    readonly kind: string
    readonly at: string
    readonly text: string
  }[]
  /** A person does not want it. */
  readonly refused: { readonly by: string; readonly why: string; readonly atMs: number } | null
  /** Of the definition that was looked at: what is accepted is this one and no other. */
  readonly digest: string
}

// ---- Policy

export interface PolicyDocumentView {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly digest: string
  readonly house: boolean
  /** Whether this text is what is in force; else it waits or has errors. */
  readonly inForce: boolean
  /** Why it cannot be saved from here; empty if it can. */
  readonly fixed: string
  /** The file lies in a checkout: what is saved is a patch to take along. */
  readonly versioned: boolean
}

export interface PolicyView {
  readonly documents: readonly PolicyDocumentView[]
  /** What waits or is wrong; empty if the files are in force. */
  readonly why: string
}

/** A tool's place on the board. */
export interface BoardTool extends ClassifiedTool {
  readonly risk: string
  readonly verdict: Action | 'depends'
  /** Where it stands: the verdict, or what it would be if its conditions hold. */
  readonly column: Action
  readonly rule: string
  readonly reason: string
  readonly limits: readonly string[]
  /** Why it cannot simply be moved; empty if it can. */
  readonly lock: string
  /** Of the rule: `args.amount <= 50, else require_approval`; empty if it has none. */
  readonly condition: string
  /** Guardrails that may tighten the verdict, by name. */
  readonly guardrails: readonly string[]
}

export interface BoardCategory {
  readonly name: string
  readonly action: Action | 'default'
  readonly lock: string
  readonly tools: number
}

export type PolicyProblem = Omit<Problem, 'file'>

/** The file of cases beside a document, with one more. */
export interface PolicyTestsDraft {
  readonly file: string
  /** Digest of the text it is made from; empty for a new file. */
  readonly base: string
  readonly before: string
  readonly after: string
  /** What is not as the new case expects; empty if it passes. */
  readonly differences: readonly string[]
  /** Why no case can be added there; empty if it can. */
  readonly refused: string
}

/** What a text would mean. */
export interface PolicyDraft {
  readonly text: string
  /** Absent unless a case was asked for. */
  readonly tests?: PolicyTestsDraft
  readonly problems: readonly PolicyProblem[]
  /** Absent if the text has errors. */
  readonly board?: {
    readonly fallback: Action
    readonly categories: readonly BoardCategory[]
    readonly tools: readonly BoardTool[]
  }
  readonly changes: readonly {
    readonly tool: string
    readonly from: string
    readonly to: string
    readonly change: 'loosens' | 'tightens' | 'depends'
  }[]
  readonly loosens: readonly { readonly where: string; readonly what: string }[]
  /** The cases beside the document under the new text; absent until asked for, with `replay`. */
  readonly cases?: PolicyCasesResult
  /** Recorded calls under the new text; absent until asked for. */
  readonly replay?: {
    readonly calls: number
    readonly same: number
    readonly unknown: number
    readonly flips: readonly {
      readonly tool: string
      readonly from: string
      readonly to: string
      readonly count: number
    }[]
  }
}

export interface PolicyCasesResult {
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly differences: readonly string[] }[]
}

export interface SavedPolicy {
  readonly digest: string
  readonly inForce: boolean
  /** Digest of the file of cases, if it was written. */
  readonly tests?: string
  /** Where the file is under version control: nothing was written, this is the change. */
  readonly patch?: string
}

export interface PolicyVersion {
  readonly id: number
  readonly atMs: number
  readonly name: string
  readonly digest: string
  readonly by: string
  readonly why: string
}

// ---- Settings

export interface SettingsView {
  readonly version: string
  readonly url: string
  readonly config: string
  readonly data: string
  readonly files: readonly {
    readonly name: string
    readonly bytes: number
    readonly what: string
  }[]
  readonly policies: readonly string[]
  /** `api: { change_servers: true }` of sluice.yaml. */
  readonly canChangeServers: boolean
  /** Clients reach it by its address; else they start it themselves. */
  readonly hasAddress: boolean
  readonly pid: number
  readonly upSeconds: number
  readonly ready: boolean
  /** Policies in shadow mode: nothing of them is enforced. */
  readonly observed: readonly string[]
  readonly why: string
  readonly ledger: { readonly state: string; readonly records: number }
  readonly frozen: readonly {
    readonly scope: 'all' | 'server' | 'principal' | 'agent' | 'session'
    /** Empty if everything is frozen. */
    readonly id: string
    readonly what: string
    readonly why: string
    readonly atMs: number
  }[]
  /** Gates that share the store, this one too; empty if it shares none. */
  readonly gates: readonly {
    readonly name: string
    readonly isLive: boolean
    /** `lost`: it says nothing any more, and was not stopped. */
    readonly state: 'live' | 'stopped' | 'lost'
    readonly seenAtMs: number
    /** The one that was asked. */
    readonly isThis: boolean
  }[]
}
