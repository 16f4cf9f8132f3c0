// Two agents turn by turn, as a fork with another model and the agent that it was forked from: the first turn whose
// text or calls differ, and what each side has used. From their histories. Pure.

/** An entry of `wasm_agent_history`, as far as it is read here. */
export interface HistoryLine {
  readonly kind: string
  readonly turn: number
  readonly text?: unknown
  readonly toolCalls?: unknown
  readonly usage?: unknown
}

/** What a model answered in a turn. */
export interface ComparedTurn {
  readonly text: string
  readonly calls: readonly ComparedCall[]
}

export interface ComparedCall {
  readonly name: string
  /** The arguments, as JSON. */
  readonly input: string
}

export interface ComparedSide {
  /** Turns of both, and after them. */
  readonly turns: number
  readonly tokens: number
  /** In the currency of the price; null if a turn has no price. */
  readonly cost: number | null
  /** The turn that differs; null if this side has no such turn, or none differs. */
  readonly at: ComparedTurn | null
}

export interface TurnComparison {
  /** The first turn that both have in their journals; null if there is none. */
  readonly from: number | null
  /** The first turn that differs; null if none does. */
  readonly turn: number | null
  readonly sides: readonly [ComparedSide, ComparedSide]
}

interface ReadTurn extends ComparedTurn {
  readonly tokens: number
  readonly cost: number | null
}

export function compareTurns(
  one: readonly HistoryLine[],
  other: readonly HistoryLine[],
): TurnComparison {
  const all = [readTurns(one), readTurns(other)] as const
  const starts = all.map((turns) => Math.min(...turns.keys())).filter(Number.isFinite)
  const from = starts.length === 0 ? null : Math.max(...starts)
  const numbers = [...new Set(all.flatMap((turns) => [...turns.keys()]))]
  const differing = numbers
    .filter((turn) => turn >= (from ?? 0))
    .sort((a, b) => a - b)
    .find((turn) => !isSame(all[0].get(turn), all[1].get(turn)))
  const side = (turns: ReadonlyMap<number, ReadTurn>): ComparedSide => {
    const shared = [...turns].filter(([turn]) => turn >= (from ?? 0)).map(([, read]) => read)
    const { text, calls } = turns.get(differing ?? -1) ?? {}
    return {
      turns: shared.length,
      tokens: shared.reduce((sum, { tokens }) => sum + tokens, 0),
      cost: shared.reduce<number | null>(
        (sum, { cost }) => (sum === null || cost === null ? null : sum + cost),
        0,
      ),
      at: text === undefined || calls === undefined ? null : { text, calls },
    }
  }
  return { from, turn: differing ?? null, sides: [side(all[0]), side(all[1])] }
}

/** Reads turns by their numbers. A summary of the conversation has the number of the turn before it and is none itself. */
function readTurns(history: readonly HistoryLine[]): Map<number, ReadTurn> {
  const turns = new Map<number, ReadTurn>()
  for (const { kind, turn, text, toolCalls, usage } of history) {
    if (kind !== 'model' || turns.has(turn)) continue
    const { inputTokens, outputTokens, cost } = Object(usage) as Record<string, unknown>
    turns.set(turn, {
      text: String(text ?? ''),
      calls: (Array.isArray(toolCalls) ? toolCalls : []).map(({ name, input }) => ({
        name: String(name),
        input: typeof input === 'string' ? input : JSON.stringify(input),
      })),
      tokens: Number(inputTokens) + Number(outputTokens),
      cost: typeof cost === 'number' ? cost : null,
    })
  }
  return turns
}

function isSame(one: ReadTurn | undefined, other: ReadTurn | undefined): boolean {
  const shown = (turn: ReadTurn | undefined) => turn && [turn.text, turn.calls]
  return JSON.stringify(shown(one)) === JSON.stringify(shown(other))
}
