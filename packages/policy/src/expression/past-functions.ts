// The functions over the calls that a session made before, and what their arguments are: literals, so
// that each use is a variable of its own. Evaluated in evaluate/evaluate.ts.

/** Function -> what its arguments are, and what it comes to. */
export const PAST_FUNCTIONS: ReadonlyMap<
  string,
  { readonly takes: readonly ('tool' | 'time')[]; readonly type: 'bool' | 'int' }
> = new Map([
  ['called', { takes: ['tool'], type: 'bool' }],
  ['calledWithin', { takes: ['tool', 'time'], type: 'bool' }],
  ['callsAfter', { takes: ['tool', 'tool'], type: 'int' }],
])
