// Faults to plant in a copy of the engine, one at a time: the comparison with the reference must
// find each. `find` stands exactly once in the file; where the engine changes, change it here.

export interface Fault {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly put: string
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'one list of hosts is enough where several hold',
    file: 'policy/src/decide/egress.ts',
    find: 'for (const [key, listed] of lists)',
    put: 'for (const [key, listed] of lists.slice(0, 1))',
  },
  {
    name: 'a host below a listed one passes',
    file: 'policy/src/model/answer-rule.ts',
    find: "each.startsWith('*.') ? host.endsWith(each.slice(1)) : host === each",
    put: "host.endsWith(each.replace('*.', ''))",
  },
  {
    name: 'of two words for an argument the looser counts',
    file: 'policy/src/provenance/argument-roles.ts',
    find: 'rank(role) > rank(other)',
    put: 'rank(role) < rank(other)',
  },
  {
    name: 'what is said of an object does not hold for its members',
    file: 'policy/src/provenance/visit-arguments.ts',
    find: 'this.#roles.get(own) ?? policyRole',
    put: 'this.#roles.get(own)',
  },
  {
    name: 'a guess is taken for a class',
    file: 'policy/src/decide/resolve.ts',
    find: 'tool.unknown === true && word === undefined',
    put: 'false',
  },
  {
    name: 'of a guess and a doubt the guess counts',
    file: 'policy/src/decide/stricter.ts',
    find: 'if (isStronger(doubt.action, guess.action)) return { ...doubt, shadow }',
    put: '',
  },
  {
    name: 'an undecidable condition takes the action as if it were true',
    file: 'policy/src/decide/combine-rules.ts',
    find: 'return pickStronger(action, otherwise)',
    put: 'return action',
  },
  {
    name: 'a guardrail that cannot be decided does not apply',
    file: 'policy/src/decide/combine-rules.ts',
    find: "return truth.is === 'true' || truth.is === 'undecidable'",
    put: "return truth.is === 'true'",
  },
  {
    name: 'only the first rule limits',
    file: 'policy/src/decide/combine-rules.ts',
    find: 'draft.limitRules = rules',
    put: 'draft.limitRules = rules.slice(0, 1)',
  },
  {
    name: 'over lifts every category',
    file: 'policy/src/decide/resolve.ts',
    find: 'value.over.has(category)',
    put: 'value.over.size > 0',
  },
  {
    name: 'an exact name in shadow still stands over globs',
    file: 'policy/src/decide/resolve.ts',
    find: 'if (exact !== undefined && !exact.shadow) {',
    put: 'if (exact !== undefined) {',
  },
  {
    name: 'between overlapping classifications the harmless one holds',
    file: 'policy/src/decide/resolve.ts',
    find: 'CATEGORIES.findLast(',
    put: 'CATEGORIES.find(',
  },
  {
    name: 'globs that say the same push each other aside',
    file: 'policy/src/language/glob.ts',
    find: 'covers(wide, narrow) && !covers(narrow, wide)',
    put: 'covers(wide, narrow)',
  },
  {
    name: 'a question mark also stands for nothing',
    file: 'policy/src/language/glob.ts',
    find: "    else if (wanted === '?' || wanted === letter) after.push(place + 1)",
    put: "    else if (wanted === '?' || wanted === letter) after.push(place, place + 1)",
  },
  {
    name: 'an argument nobody declared is looked past',
    file: 'policy/src/expression/evaluate/evaluate.ts',
    find: '!program.closedTo.has(name)',
    put: "name === ''",
  },
  {
    name: 'a negative factor gives budget back',
    file: 'policy/src/decide/limit-charge.ts',
    find: 'decimal.units < 0n',
    put: 'false',
  },
  {
    name: 'all sessions share one counter',
    file: 'policy/src/decide/limit-charge.ts',
    find: 'return facts.session.id',
    put: "return 'one'",
  },
  {
    name: 'the window is one millisecond longer',
    file: 'policy/src/counters/window.ts',
    find: '>= this.windowMs',
    put: '> this.windowMs',
  },
  {
    name: 'the shortest wait is told',
    file: 'policy/src/decide/apply-limits.ts',
    find: 'room.retryAfterMs > worst.room.retryAfterMs',
    put: 'room.retryAfterMs < worst.room.retryAfterMs',
  },
  {
    name: 'a number that no double holds is rounded',
    file: 'policy/src/expression/evaluate/walk-arguments.ts',
    find: 'if (value instanceof ExactNumber || !Number.isFinite(value))',
    put: 'if (value instanceof ExactNumber) return Number(value.text)\n  if (!Number.isFinite(value))',
  },
  {
    name: 'a field that a stranger wrote passes',
    file: 'policy/src/provenance/is-held.ts',
    find: 'return HELD_ORIGINS[use].has(origin)',
    put: "return origin !== 'written field' && HELD_ORIGINS[use].has(origin)",
  },
  {
    name: 'strict takes a field for proof',
    file: 'policy/src/provenance/is-held.ts',
    find: "if (origin === 'user' || origin === 'trusted') return false",
    put: "if (origin === 'user' || origin === 'field') return false",
  },
  {
    name: 'strict lets what stands nowhere pass before anything was text',
    file: 'policy/src/provenance/is-held.ts',
    find: "if (origin === 'nowhere' && !memory.hasRead)",
    put: "if (origin === 'nowhere' && !memory.hasProse)",
  },
  {
    name: 'a read that sends is a read',
    file: 'policy/src/provenance/check-call.ts',
    find: "const isRead = call.category === 'Read' && call.flow !== 'external'",
    put: "const isRead = call.category === 'Read'",
  },
  {
    name: 'nobody has to ask for destruction',
    file: 'policy/src/provenance/check-verb.ts',
    find: 'if (isAsked(call, memory)) return undefined',
    put: "if (isAsked(call, memory) || scope === 'destructive') return undefined",
  },
]
