// The approvals of a gate: requests are stored before approvers are notified, decided once, used at
// most once, and end executed, refused or unknown whatever happens to the process. A verdict is in
// the ledger before it takes effect. The gate submits every call that requires approval; console,
// terminal and channels use it as `ApprovalService`.

import type { DatabaseSync } from 'node:sqlite'
import { digestText } from '@sluice/ledger/records/record'
import type { Channel } from '@sluice/policy/calls/decision'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { hasRole, type Person } from '../identity/person.ts'
import type {
  ApprovalBlock,
  ApprovalFilter,
  ApprovalRequest,
  ApprovalService,
  ApprovalVerdict,
  Notifier,
  RevealedArguments,
  StandingApproval,
} from './approval.ts'
import { ApprovalRegistry, GONE, type RegistryParts, withoutName } from './approval-registry.ts'
import {
  type ApprovalSubmission,
  digestRequirements,
  digestSubmission,
} from './approval-submission.ts'
import { clientObjection, isSatisfied } from './count-votes.ts'
import { Denials } from './denials.ts'
import { describeDenied } from './describe-start.ts'
import { toCanonicalJsonText } from './json-text.ts'
import { CLOCK_AHEAD_MS_MAX, REPEAT_REFUSED_MS, UNUSED_MS_MAX } from './limits.ts'
import { ApproverNotifiers, type NotificationResult } from './notify-approvers.ts'
import { aboutPerson, aboutProposal, aboutRequest, describeTerms } from './record-steps.ts'
import { type ApprovalUse, recoverUses } from './recover.ts'
import { whyFull } from './request-limits.ts'
import { type ApprovalRow, UNDECIDED } from './requests.ts'
import { StandingApprovals } from './standing.ts'
import { checkOpen, tallyVerdict } from './verdict.ts'

/** The state of a submitted call. */
export type ApprovalRequestResult =
  | {
      readonly is: 'approved'
      readonly id: string
      readonly by: readonly string[]
      /** The arguments, if an approver changed them. */
      readonly args?: string
    }
  | { readonly is: 'standing'; readonly id: string; readonly by: readonly string[] }
  | {
      readonly is: 'pending'
      readonly id: string
      /** A form of the client can decide it. */
      readonly client: boolean
      /** Why the request before this one for the same call expired. */
      readonly expired?: string
    }
  | { readonly is: 'used'; readonly id: string; readonly usedBy: string }
  | {
      readonly is: 'denied' | 'expired'
      readonly id: string
      readonly why: string
      /** `why` ends with the name of this person, who denied it without a comment. */
      readonly by?: string
    }
  | { readonly is: 'refused'; readonly why: string; readonly barred: boolean }

export class ApprovalEngine implements ApprovalService {
  readonly #registry: ApprovalRegistry
  readonly #standing: StandingApprovals
  readonly #denials: Denials
  readonly #notifiers = new ApproverNotifiers()
  /** Calls in progress that use a standing approval, by their id. */
  readonly #standingCalls = new Set<string>()

  constructor(parts: RegistryParts) {
    this.#registry = new ApprovalRegistry(parts)
    this.#standing = new StandingApprovals(parts.database, this.#registry.vault, parts.isApprover)
    this.#denials = new Denials(parts.database)
  }

  /**
   * After a start: determines from the ledger the outcome of calls that had claimed an approval.
   */
  recover(ledger: DatabaseSync): void {
    const used = this.#registry.requests.used()
    const became = recoverUses(ledger, used)
    for (const { id, usedBy } of used)
      this.settled(id, usedBy as string, became.get(usedBy as string) as ApprovalUse)
    this.#endAhead()
  }

  /**
   * What was created while the clock was ahead would last until the clock catches up: it is ended.
   */
  #endAhead(): void {
    const latestMs = this.#registry.parts.nowMs() + CLOCK_AHEAD_MS_MAX
    this.#registry.voidAll(this.#registry.requests.madeAfter(latestMs), CLOCK_WAS_AHEAD)
    for (const standing of this.#standing.endAhead(latestMs))
      this.#registry.note('standing-ended', { standing, why: CLOCK_WAS_AHEAD })
  }

  add(notifier: Notifier): void {
    this.#notifiers.add(notifier)
  }

  // For the gate.

  /** The state of this call: a request is created, durably, before approvers are notified. */
  async ask(call: ApprovalSubmission): Promise<ApprovalRequestResult> {
    const nowMs = this.#registry.parts.nowMs()
    const asked = digestRequirements(call.asks)
    const { principal, agent, server, method, name, pin, args } = call
    const rest = toCanonicalJsonText(call.rest)
    const alike = {
      principal: principal.id,
      agent,
      server,
      method,
      name,
      asked,
      pin,
      rest,
      args,
      session: call.session,
    }
    const key = digestSubmission(call)
    const newest = this.#registry.newest(key)
    // An approval of this exact call takes precedence over a standing one.
    const isApproved = newest?.state === 'approved' && newest.usedBy === null
    const standing = isApproved ? undefined : this.#standing.find(alike, nowMs)
    if (standing !== undefined) return { is: 'standing', id: standing.id, by: standing.by }
    const answer =
      newest === undefined
        ? undefined
        : await this.#answerFromNewest(newest, { asked, pin, session: call.session }, nowMs)
    return answer ?? this.#propose(call, key, asked, rest)
  }

  /** Claims the approval for one call; false if another was faster, or it is no longer approved. */
  use(id: string, callId: string): boolean {
    const { ledger, nowMs } = this.#registry.parts
    const row = this.#registry.find(id)
    if (row === undefined || row.expiresAtMs <= nowMs()) return false
    if (!isSatisfied(row.asks, row.votes, row.edited)) return false
    return this.#registry.requests.use(id, callId, nowMs(), ledger.figures.seq)
  }

  /** Returns how often an approval may be used, for a store that counts uses itself; undefined for no bound. */
  usesMax(id: string, isStanding: boolean): number | undefined {
    const nowMs = this.#registry.parts.nowMs()
    if (isStanding) return this.#standing.usesMax(id, nowMs)
    const row = this.#registry.find(id)
    if (row?.state !== 'approved' || row.usedBy !== null || row.expiresAtMs <= nowMs) return 0
    return isSatisfied(row.asks, row.votes, row.edited) ? 1 : 0
  }

  /** Another gate has changed these requests, or standing approvals. */
  sharedChanged(requests: readonly string[]): void {
    this.#standing.reload()
    this.#registry.arm()
    void this.#registry.sharedChanged(requests)
  }

  /** Claims one use of a standing approval; false if it has expired or is used up. */
  takeStanding(id: string, callId: string): boolean {
    if (!this.#standing.take(id, this.#registry.parts.nowMs())) return false
    this.#standingCalls.add(callId)
    return true
  }

  /** The call is about to be forwarded: recorded in the ledger together with its intent. */
  executing(id: string, callId: string, argsText: string | undefined): void {
    const row = this.#registry.find(id)
    const about = row === undefined ? { standing: id } : aboutRequest(row)
    const edited = (row?.edited ?? 0) > 0
    const argsDigest = argsText === undefined ? null : digestText(argsText)
    this.#registry.note('executed', { ...about, call: callId, edited, argsDigest })
  }

  /** Records the outcome of the call that used it. */
  settled(id: string, callId: string, became: ApprovalUse): void {
    const row = this.#registry.find(id)
    if (row?.usedBy !== callId) {
      if (this.#standingCalls.delete(callId) && became === 'not-sent') this.#standing.refund(id)
      this.#registry.note('returned', { standing: id, call: callId, became })
      return
    }
    if (became === 'not-sent') {
      this.#registry.requests.release(id, callId)
      this.#registry.arm()
    } else {
      this.#registry.requests.markSettled(id, this.#registry.parts.nowMs())
      this.#registry.requests.end(id, became, became === 'unknown' ? UNKNOWN : '')
    }
    this.#registry.note('returned', { ...aboutRequest(row), call: callId, became })
    this.#registry.changed(id)
  }

  /** Resolves when the request changes, or on timeout; immediately if the gate stops. */
  change(id: string, waitMs: number): Promise<void> {
    return this.#registry.waitForChange(id, waitMs)
  }

  get isClosed(): boolean {
    return this.#registry.isClosed
  }

  /** Its approver edited the arguments, and with them policy refuses the call. */
  refuseEdited(id: string, why: string): void {
    const row = this.#registry.find(id)
    if (row !== undefined) this.#registry.void(row, why)
  }

  /** The policy changed: requests of rules that no longer exist unchanged are void. */
  policyChanged(isThere: (says: string) => boolean): void {
    const gone = this.#registry.requests.withoutRules(isThere)
    this.#registry.voidAll(gone, 'the rule that required approval has changed since')
  }

  /** The definition of a tool changed: requests for the previous one are void. */
  definitionSeen(server: string, name: string, pin: string): void {
    this.#registry.voidAll(
      this.#registry.requests.ofOtherPin(server, name, pin),
      DEFINITION_CHANGED,
    )
  }

  /** An approver was removed: their unused votes and standing approvals are void. */
  peopleChanged(): void {
    this.#registry.peopleChanged()
    for (const standing of this.#standing.endGone(this.#registry.parts.nowMs()))
      this.#registry.note('standing-ended', { standing, why: GONE })
  }

  close(): void {
    this.#registry.close()
  }

  // For people.

  list(filter: ApprovalFilter = {}): Promise<readonly ApprovalRequest[]> {
    return this.#registry.list(filter)
  }

  count(filter: ApprovalFilter): Promise<number> {
    return this.#registry.count(filter)
  }

  idsStartingWith(prefix: string): readonly string[] {
    return this.#registry.requests.startingWith(prefix)
  }

  find(id: string): ApprovalRequest | undefined {
    const row = this.#registry.find(id)
    return row === undefined ? undefined : this.#registry.toView(row)
  }

  get pendingCount(): number {
    return this.#registry.requests.pendingCount()
  }

  get oldestOpenMs(): number | undefined {
    return this.#registry.requests.oldestOpenMs()
  }

  async reveal(id: string, who: Person): Promise<RevealedArguments> {
    const row = this.#registry.getRow(id)
    if (!hasRole(who, 'approver'))
      throw new OperationError(`\`${who.name}\` is not an approver`, 'ask one')
    const call = this.#registry.openCall(row)
    if (call === undefined)
      throw new OperationError('the arguments are no longer stored', 'the ledger has their digest')
    await this.#registry.record('revealed', { ...aboutRequest(row), ...aboutPerson(who, null) })
    return { args: call.args, rest: withoutName(call.rest) }
  }

  decide(
    id: string,
    verdict: ApprovalVerdict,
    who: Person,
    channel: Channel,
  ): Promise<ApprovalRequest> {
    return this.#registry.inTurn(async () => {
      const { nowMs, readArgs } = this.#registry.parts
      this.#registry.beginVerdict(who.name)
      const row = this.#registry.getRow(id)
      if (row.state === 'pending' && row.expiresAtMs <= nowMs()) this.#registry.expire(row)
      checkOpen(this.#registry.getRow(id), verdict)
      const tally = tallyVerdict(row, verdict, { who, channel, atMs: nowMs(), readArgs })
      const { votes, outcome, edit } = tally
      const { args, comment = '', forAWhile } = verdict
      const sent = this.#registry.openCall(row) ?? { rest: '{}', args: '' }
      const keep =
        forAWhile &&
        this.#standing.check(row, sent, { wanted: forAWhile, by: who.name, nowMs: nowMs() })
      await this.#registry.record(outcome, {
        ...aboutRequest(row),
        ...aboutPerson(who, channel),
        comment,
        ...(args === undefined ? {} : { editedArgsDigest: digestText(args) }),
        ...describeTerms(forAWhile),
      })
      // It may have been used, or have become void, while it was recorded.
      checkOpen(this.#registry.getRow(id), verdict)
      this.#registry.requests.inOne(() => {
        if (args === undefined) this.#registry.requests.vote(id, votes)
        else {
          const sealed = this.#registry.seal(id, { ...sent, args })
          this.#registry.requests.vote(id, votes, { args: sealed, edited: edit })
        }
        if (outcome === 'approved') this.#registry.requests.approve(id, nowMs() + UNUSED_MS_MAX)
        if (outcome === 'denied') {
          this.#registry.requests.end(
            id,
            'denied',
            comment === '' ? `denied by ${who.name}` : comment,
          )
          this.#denials.count({ ...row, name: describeDenied(row, sent.args) }, nowMs())
        }
        keep?.()
      })
      this.#registry.arm()
      return this.#registry.changed(id)
    })
  }

  watch(listener: (request: ApprovalRequest) => void): () => void {
    return this.#registry.watch(listener)
  }

  get standing(): readonly StandingApproval[] {
    return this.#standing.list(this.#registry.parts.nowMs())
  }

  async endStanding(id: string, who: Person): Promise<void> {
    if (!this.#standing.has(id, this.#registry.parts.nowMs()))
      throw new OperationError(`there is no standing approval \`${id}\``, 'list those that do')
    await this.#registry.record('standing-ended', { standing: id, ...aboutPerson(who, null) })
    this.#standing.end(id)
  }

  get barred(): readonly ApprovalBlock[] {
    return this.#denials.barred
  }

  async lift(
    barred: Pick<ApprovalBlock, 'session' | 'server' | 'name'>,
    who: Person,
  ): Promise<void> {
    if (!hasRole(who, 'approver'))
      throw new OperationError(`\`${who.name}\` is not an approver`, 'ask one')
    const { session, server, name } = barred
    if (!this.#denials.isBarred(barred))
      throw new OperationError(
        `\`${server}/${name}\` is not denied to that session`,
        'nothing to lift',
      )
    await this.#registry.record('lifted', { session, server, name, ...aboutPerson(who, null) })
    this.#denials.lift(barred)
  }

  /** The result of the newest request for a call; undefined if a new one is required. */
  async #answerFromNewest(
    newest: ApprovalRow,
    {
      asked,
      pin,
      session,
    }: { readonly asked: string; readonly pin: string; readonly session: string },
    nowMs: number,
  ): Promise<ApprovalRequestResult | undefined> {
    const isOpen = newest.state === 'pending' || newest.state === 'approved'
    if (isOpen && newest.usedBy === null) {
      if (newest.expiresAtMs <= nowMs) this.#registry.expire(newest)
      else if (newest.pin !== pin) this.#registry.void(newest, DEFINITION_CHANGED)
      else if (newest.asked !== asked)
        this.#registry.void(newest, 'other rules require approval of this call now')
      else if (
        newest.state === 'approved' &&
        !isSatisfied(newest.asks, newest.votes, newest.edited)
      )
        this.#registry.void(newest, GONE)
    }
    const row = this.#registry.getRow(newest.id)
    const { id, state, usedBy, usedAtMs, isReported, why } = row
    if (state === 'pending') return this.#toPending(row)
    if (usedBy !== null && (state === 'approved' || nowMs - (usedAtMs ?? 0) < REPEAT_REFUSED_MS))
      return { is: 'used', id, usedBy }
    if (state === 'approved') {
      const by = row.votes
        .filter(({ verdict, gone }) => verdict === 'approve' && !gone)
        .map((vote) => vote.by)
      const edited = row.edited > 0 ? { args: this.#registry.openCall(row)?.args ?? '' } : {}
      return { is: 'approved', id, by, ...edited }
    }
    // That nobody decided in time was said of another session's call: an approver may be there now.
    if (state === 'expired' && row.session !== session) return undefined
    // The verdict is reported to the caller once; the next call submits a new request.
    if ((state === 'denied' || state === 'expired') && !isReported) {
      this.#registry.requests.markReported(id)
      const silent = row.votes.find(({ verdict, comment }) => verdict === 'deny' && comment === '')
      return { is: state, id, why, ...(state === 'denied' && silent && { by: silent.by }) }
    }
    return undefined
  }

  async #propose(
    call: ApprovalSubmission,
    key: string,
    asked: string,
    rest: string,
  ): Promise<ApprovalRequestResult> {
    const { before, nameSession, newId, nowMs, warn } = this.#registry.parts
    const open = this.#registry.counts(call)
    const full = whyFull(call, open, this.#isBarred(call))
    if (full !== undefined) return { is: 'refused', ...full }
    const isFree = call.id !== undefined && this.#registry.find(call.id) === undefined
    const [id, atMs] = [isFree ? call.id : newId(), nowMs()]
    const timeoutMs = Math.min(...call.asks.map((ask) => ask.timeoutMs))
    const row: Omit<ApprovalRow, 'seq'> = {
      ...call,
      ...UNDECIDED,
      id,
      key,
      asked,
      atMs,
      expiresAtMs: atMs + timeoutMs,
      before: before(call.session),
      ...(nameSession === undefined ? {} : { sessionName: nameSession(call.session) }),
    }
    this.#registry.requests.insert(row, this.#registry.seal(id, { ...call, rest }))
    try {
      await this.#registry.record('proposed', aboutProposal(row, call.args))
    } catch (error) {
      this.#registry.requests.end(id, 'void', 'it could not be recorded')
      return { is: 'refused', why: (error as Error).message, barred: false }
    }
    this.#registry.requests.prune()
    this.#registry.arm()
    const request = this.#registry.changed(id)
    const onResult = ({ channels, fault }: NotificationResult): void => {
      const about = { ...aboutRequest(row), channels: [...channels], ok: fault === undefined }
      this.#registry.note('notified', { ...about, fault: fault ?? null })
      if (fault !== undefined) warn(`approvers were not notified by ${channels.join(', ')}`, fault)
    }
    void this.#notifiers.notify(request, onResult)
    // It was seen, here and at other gates, before it was recorded: a verdict of meanwhile wakes nobody later.
    const { pin, session } = call
    const made = this.#registry.getRow(id)
    return (
      (await this.#answerFromNewest(made, { asked, pin, session }, nowMs())) ??
      this.#toPending(made)
    )
  }

  /** Gates of the version before count denials of lines by the tool alone. */
  #isBarred(call: ApprovalSubmission): boolean {
    const name = describeDenied(call, call.args)
    return this.#denials.isBarred(call) || this.#denials.isBarred({ ...call, name })
  }

  #toPending(row: ApprovalRow): ApprovalRequestResult {
    const expired = this.#registry.whyExpiredBefore(row)
    return {
      is: 'pending',
      id: row.id,
      client: row.asks.every((ask) => !clientObjection(ask, row)),
      ...(expired === undefined ? {} : { expired }),
    }
  }
}

const CLOCK_WAS_AHEAD = 'it was made while the clock of the machine was ahead'
const DEFINITION_CHANGED = 'the definition of the tool has changed since'
const UNKNOWN = 'it was sent, and its outcome is unknown'
