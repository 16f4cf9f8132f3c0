// The four actions a rule can have, and their order of strictness. Shared by the engine, the gate,
// the console and the ledger: `pickStronger` combines two actions.

export const ACTIONS = ['allow', 'require_approval', 'deny', 'hide'] as const
/**
 * What a rule can decide, from the weakest to the strongest.
 *
 * @example
 * ```ts
 * const action: Action = 'require_approval'
 * ```
 */
export type Action = (typeof ACTIONS)[number]

const STRENGTH: Record<Action, number> = { allow: 0, require_approval: 1, deny: 2, hide: 3 }

/**
 * Whether `a` is stricter than `b`.
 *
 * @example
 * ```ts
 * isStronger('deny', 'allow') // true
 * ```
 */
export function isStronger(a: Action, b: Action): boolean {
  return STRENGTH[a] > STRENGTH[b]
}

/**
 * The stricter of two actions.
 *
 * @example
 * ```ts
 * pickStronger('allow', 'require_approval') // 'require_approval'
 * ```
 */
export function pickStronger(a: Action, b: Action): Action {
  return STRENGTH[b] > STRENGTH[a] ? b : a
}
