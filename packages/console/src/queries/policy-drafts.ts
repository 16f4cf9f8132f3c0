// A policy text that is being edited, compared with the policy in force: what it would change for the known
// tools and for recorded calls. Runs in the thread that reads the ledger.

import type { DatabaseSync } from 'node:sqlite'
import { Requests } from '@sluice/access/approvals/requests'
import { BASE_POLICY, LOCAL_POLICY } from '@sluice/gateway/config/grants'
import { openGateStoreReadOnly } from '@sluice/gateway/data/gate-store'
import { idOfDocument } from '@sluice/gateway/operations/recorded-calls'
import { type Replay, replay } from '@sluice/gateway/operations/replay'
import { type DecisionChange, listDecisionChanges } from '@sluice/gateway/state/decision-changes'
import {
  compileDocuments,
  makeDocument,
  type PolicyDocument,
} from '@sluice/gateway/state/documents'
import { readKeptTools } from '@sluice/gateway/tools/stored-tools'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { type Loosening, loosenings } from '@sluice/policy/change/compare'
import type { Problem } from '@sluice/policy/document/problem'
import { listRuleTexts } from '@sluice/policy/model/canonical-rule'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { runSteps } from '@sluice/policy/structures/steps'
import { type Board, type BoardTool, boardOf } from './board.ts'
import {
  draftTests,
  type PolicyCasesResult,
  type PolicyTestsDraft,
  runStoredCases,
} from './draft-tests.ts'
import { type PolicyProofs, proveDraft, type TriedDecision, tryCall } from './draft-trials.ts'
import type { DraftRequest } from './read-requests.ts'

/** What a text would mean. */
export interface PolicyDraft {
  readonly text: string
  readonly problems: readonly Omit<Problem, 'file'>[]
  /** Absent if the text has errors. */
  readonly board?: Board
  readonly shadow: readonly ShadowRule[]
  readonly changes: readonly DecisionChange[]
  readonly loosens: readonly Loosening[]
  /** Absent unless a case was asked for. */
  readonly tests?: PolicyTestsDraft
  /** The cases beside the document under the new text; absent until asked for, with `replay`. */
  readonly cases?: PolicyCasesResult
  /** Recorded calls under the new text; absent until asked for. */
  readonly replay?: ReplayView
  /** Requests for approval of rules that the text changes: they become void with it. Absent until asked for, with `replay`. */
  readonly voids?: number
  /** A call under the new text and as it is in force; absent unless one was asked for that can be read. */
  readonly tried?: { readonly draft: TriedDecision; readonly inForce: TriedDecision }
  /** The properties beside the document under the new text; absent until asked for. */
  readonly proofs?: PolicyProofs
}

/** A rule or guardrail in shadow mode. */
export interface ShadowRule {
  /** Its pointer, as records have it. */
  readonly rule: string
  /** Of a guardrail; empty for a rule. */
  readonly name: string
}

/** What recorded calls would get, compared with what the policy in force decides on the same calls. */
export interface ReplayView {
  readonly calls: number
  /** Calls that the policy in force decides the same way. */
  readonly same: number
  /** Calls whose record lacks what the text decides by. */
  readonly unknown: number
  /** Calls under rules that the text leaves as they are. */
  readonly untouched: number
  /** Calls that an earlier version of the policy decided. */
  readonly earlier: number
  /** Calls that come out otherwise, by tool. */
  readonly flips: readonly {
    readonly tool: string
    readonly from: string
    readonly to: string
    readonly count: number
  }[]
}

export class PolicyDrafts {
  readonly #directory: string
  readonly #ledger: DatabaseSync
  #store: DatabaseSync | undefined
  /** Version of the store that `#tools` was read from. */
  #seen: unknown
  #tools: readonly KnownTool[] = []

  /** Recorded calls are those of this ledger. */
  constructor(directory: string, ledger: DatabaseSync) {
    this.#directory = directory
    this.#ledger = ledger
  }

  close(): void {
    this.#store?.close()
  }

  /** Every tool that was ever listed, by the policy that binds the local user. */
  tools({ documents, name }: Pick<DraftRequest, 'documents' | 'name'>): BoardTool[] {
    const policy = compileDocuments(new Map(documents)).compiled?.policies.get(name)
    return policy === undefined ? [] : [...boardOf(policy, this.#listTools()).tools]
  }

  /** What a policy text would change, compared with the policy in force. */
  draft(request: DraftRequest): PolicyDraft {
    const { documents, name, text, replaySinceMs, test, call, isProved } = request
    const before = new Map(documents)
    const { file } = before.get(name) as PolicyDocument
    const now = new Map(before).set(name, makeDocument(name, file, text))
    const { compiled, problems } = compileDocuments(now)
    const view = {
      text,
      problems: problems
        .filter((one) => one.text === text)
        .map(({ problem: { file: _, ...problem } }) => problem),
    }
    // The base policy decides no call alone: it is shown together with the document of the local user.
    const judging = name === BASE_POLICY ? LOCAL_POLICY : name
    const policy = compiled?.policies.get(judging)
    const old = compileDocuments(before).compiled?.policies.get(judging)
    if (policy === undefined || old === undefined)
      return { ...view, shadow: [], changes: [], loosens: [] }
    const tools = this.#listTools()
    const [tried, inForce] =
      call === undefined
        ? []
        : [policy, old].map((one) => tryCall(one, call, { tools, nowMs: call.nowMs }))
    const id = idOfDocument(judging, now.get(judging)?.text ?? '', policy)
    return {
      ...view,
      board: boardOf(policy, tools),
      shadow: listShadow(policy),
      changes: runSteps(listDecisionChanges(judging, old, policy, tools)),
      loosens: loosenings(old, policy),
      ...(replaySinceMs === undefined
        ? {}
        : {
            replay: viewReplay(
              replay(this.#ledger, {
                policy,
                id,
                current: {
                  policy: old,
                  id: idOfDocument(judging, before.get(judging)?.text ?? '', old),
                },
                name: judging,
                sinceMs: replaySinceMs,
                tools,
              }),
            ),
            cases: runStoredCases(file, policy, tools),
            voids: this.#countVoid(compiled?.policies.values() ?? []),
          }),
      ...(tried && inForce && { tried: { draft: tried, inForce } }),
      ...(isProved === true && { proofs: proveDraft(file, policy, tools) }),
      ...(test === undefined ? {} : { tests: draftTests(file, test, policy, tools) }),
    }
  }

  /** Once the tools are listed. */
  #countVoid(policies: Iterable<CompiledPolicy>): number {
    const texts = new Set([...policies].flatMap(listRuleTexts))
    const requests = new Requests(this.#store as DatabaseSync, () => true)
    return requests.withoutRules((says) => texts.has(says)).length
  }

  /** As the gate keeps them: it is asked to write them down before. Read again only if the file has
   * changed: what the engine works out for a tool is kept with it. */
  #listTools(): readonly KnownTool[] {
    this.#store ??= openGateStoreReadOnly(this.#directory)
    const version = this.#store.prepare('PRAGMA data_version').get()?.data_version
    if (version !== this.#seen) {
      this.#tools = readKeptTools(this.#store)
      this.#seen = version
    }
    return this.#tools
  }
}

function listShadow(policy: CompiledPolicy): ShadowRule[] {
  const { categories, tools, methods, resources, prompts, guardrails } = policy
  const rules = [categories, tools, methods, resources, prompts].flatMap((map) => [...map.values()])
  return [...rules.map((rule) => ({ ...rule, name: '' })), ...guardrails]
    .filter(({ shadow }) => shadow)
    .map(({ pointer, name }) => ({ rule: pointer, name }))
}

function viewReplay({ calls, same, unknown, untouched, earlier, flips }: Replay): ReplayView {
  const shown = flips.map(({ tool, from, to, count }) => ({ tool, from, to, count }))
  return { calls, same, unknown, untouched, earlier, flips: shown }
}
