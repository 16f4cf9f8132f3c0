// What a family may still spend on models: every call is reserved before it is sent and counts as out
// until its usage is in the journal, so that no number of forks, queued calls or imports that ask at
// once gets past a limit. What does not fit waits for those that are out; if the family is then spent it
// is never sent. Calls that left and were abandoned are charged. Owned by ask-model.ts.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { ModelUsage } from '../guest/protocol.ts'
import { costOf } from '../journal/family-limits.ts'
import type { AgentRow, FamilyRow, HostStop } from '../journal/rows.ts'
import { BUDGET_MARGIN, ROWS_KEPT_MAX } from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'

/** The family has nothing left; the agent is to be stopped. */
export class BudgetSpent extends Error {
  readonly stop: HostStop
  constructor(stop: HostStop) {
    super(stop.detail)
    this.stop = stop
  }
}

export interface ModelRequestSize {
  /** How many characters are sent in all. */
  readonly characters: number
  /** A call that sums up is no turn. */
  readonly isTurn: boolean
}

export interface Reservation {
  /** From now on it has to be paid for. */
  sent(): void
  /** The server did not take it: nothing is owed. */
  refused(): void
  /** What it came to; without it, a call that was sent is charged as it was reserved. */
  answered(usage: ModelUsage): void
  /** The answer is in the journal, which has counted it: nothing is owed beside that. */
  recorded(): void
  /** It is in the journal, or nobody waits for it any more. */
  release(): Promise<void>
}

/** What calls of a family came to, at most. */
interface MeasuredFamily {
  readonly tokensPerCharacter: number
  readonly outputTokens: number
}

interface BudgetNeed {
  readonly turns: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicros: number
}

interface SpentBudget {
  readonly needs: Set<BudgetNeed>
  readonly waiting: Set<() => void>
  /** Changes whenever something is no longer out. */
  version: number
}

const TOKENS_PER_CHARACTER_MIN = 0.25

export class FamilyBudgets {
  readonly #steps: Steps
  readonly #now: () => number
  readonly #out = new Map<number, SpentBudget>()
  readonly #measured = new LruMap<number, MeasuredFamily>(ROWS_KEPT_MAX)

  constructor(steps: Steps, now: () => number) {
    this.#steps = steps
    this.#now = now
  }

  /** Resolves when the call may be sent, or throws BudgetSpent. */
  async reserve(
    agent: AgentRow,
    size: ModelRequestSize,
    signal: AbortSignal,
  ): Promise<Reservation> {
    try {
      return await this.#waitForRoom(agent, size, signal)
    } catch (error) {
      this.#forgetIdle(agent.family)
      throw error
    }
  }

  async #waitForRoom(
    agent: AgentRow,
    size: ModelRequestSize,
    signal: AbortSignal,
  ): Promise<Reservation> {
    for (;;) {
      const out = this.#outOf(agent.family)
      const { version } = out
      const family = await this.check(agent)
      signal.throwIfAborted()
      // What came back meanwhile is in neither of the two counts.
      if (version !== out.version) continue
      const need = this.#needOf(agent, size)
      if (this.#fits(agent.family, family, out, need)) return this.#reserved(agent, out, need, size)
      await waitIn(out.waiting, signal)
    }
  }

  /** The family as it stands, or BudgetSpent: also right before a call that has waited is sent. */
  async check(agent: AgentRow): Promise<FamilyRow> {
    const { family, held } = await this.#steps.standing(null, agent.id, this.#now())
    if (held !== null) throw new BudgetSpent(held)
    // A limit that could never hold would fail open.
    if (family.limits.maxCostMicros !== null && agent.price === null) {
      const detail = `there is no price for \`${agent.model}\`, and its family has a limit on cost`
      throw new BudgetSpent({ reason: 'host_limit', detail, at: this.#now() })
    }
    return family
  }

  #fits(
    number: number,
    { limits, ...used }: FamilyRow,
    out: SpentBudget,
    need: BudgetNeed,
  ): boolean {
    const all = [...out.needs]
    const sum = (of: (each: BudgetNeed) => number) =>
      all.reduce((total, each) => total + of(each), 0)
    if (used.turns + sum(({ turns }) => turns) + need.turns > limits.maxTurns) return false
    const { maxTokens, maxCostMicros } = limits
    if ((maxTokens === null && maxCostMicros === null) || all.length === 0) return true
    // How much one is going to be is known after the first.
    if (this.#measured.get(number) === undefined) return false
    const tokensOf = (each: BudgetNeed) => each.inputTokens + each.outputTokens
    const tokens = used.tokens + BUDGET_MARGIN * (sum(tokensOf) + tokensOf(need))
    const cost =
      used.costMicros + BUDGET_MARGIN * (sum((each) => each.costMicros) + need.costMicros)
    return tokens <= (maxTokens ?? tokens) && cost <= (maxCostMicros ?? cost)
  }

  #needOf({ family, price }: AgentRow, { characters, isTurn }: ModelRequestSize): BudgetNeed {
    const { tokensPerCharacter = TOKENS_PER_CHARACTER_MIN, outputTokens = 0 } =
      this.#measured.get(family) ?? {}
    const inputTokens = Math.ceil(characters * tokensPerCharacter)
    const usage = { inputTokens, outputTokens }
    return { turns: isTurn ? 1 : 0, ...usage, costMicros: costOf(usage, price) }
  }

  #reserved(
    agent: AgentRow,
    out: SpentBudget,
    need: BudgetNeed,
    size: ModelRequestSize,
  ): Reservation {
    out.needs.add(need)
    let owed: BudgetNeed | undefined
    return {
      sent: () => {
        owed = need
      },
      refused: () => {
        owed = undefined
      },
      answered: (usage) => {
        const { inputTokens, outputTokens } = usage
        const costMicros = costOf(usage, agent.price)
        owed &&= { turns: need.turns, inputTokens, outputTokens, costMicros }
        this.#measure(agent.family, size, usage)
      },
      recorded: () => {
        owed = undefined
      },
      release: async () => {
        if (!out.needs.has(need)) return
        try {
          if (owed !== undefined) await this.#charge(agent, owed)
        } finally {
          out.needs.delete(need)
          out.version += 1
          for (const wake of [...out.waiting]) wake()
          this.#forgetIdle(agent.family)
        }
      },
    }
  }

  #charge({ family, model }: AgentRow, need: BudgetNeed): Promise<void> {
    return this.#steps.chargeFamily(family, { ...need, model, atMs: this.#now() })
  }

  #forgetIdle(family: number): void {
    const out = this.#out.get(family)
    if (out === undefined || out.needs.size > 0 || out.waiting.size > 0) return
    // Who is just looking at it looks again.
    out.version += 1
    this.#out.delete(family)
  }

  #measure(number: number, { characters }: ModelRequestSize, usage: ModelUsage): void {
    const before = this.#measured.get(number)
    this.#measured.set(number, {
      tokensPerCharacter: Math.max(
        before?.tokensPerCharacter ?? TOKENS_PER_CHARACTER_MIN,
        usage.inputTokens / Math.max(1, characters),
      ),
      outputTokens: Math.max(before?.outputTokens ?? 0, usage.outputTokens),
    })
  }

  #outOf(family: number): SpentBudget {
    const there = this.#out.get(family)
    if (there !== undefined) return there
    const out: SpentBudget = { needs: new Set(), waiting: new Set(), version: 0 }
    this.#out.set(family, out)
    return out
  }
}

function waitIn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      waiting.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    waiting.add(wake)
    signal.addEventListener('abort', wake, { once: true })
  })
}
