// How the core says no: thrown, carried out as data, and never half done: the host throws the
// memory away in which a refusal was made.

export type RefusalCode =
  | 'AGENT_INPUT'
  | 'AGENT_LIMIT'
  | 'AGENT_STOPPED'
  | 'AGENT_BUSY'
  | 'AGENT_PATH'
  | 'AGENT_FILE_MISSING'
  | 'AGENT_EVENT'

export class GuestError extends Error {
  readonly code: RefusalCode
  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

export function unexpectedResult(effectId: string): GuestError {
  return new GuestError('AGENT_EVENT', `nothing waits for the result of \`${effectId}\``)
}
