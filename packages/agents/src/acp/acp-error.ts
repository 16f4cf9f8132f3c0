// An error that an editor is answered with: a code of JSON-RPC and a sentence.

export const ACP_ERRORS = {
  notJson: -32700,
  /** A request that the state of the session does not allow. */
  badRequest: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  internal: -32603,
} as const

export class AcpError extends Error {
  readonly code: number

  constructor(kind: keyof typeof ACP_ERRORS, message: string) {
    super(message)
    this.name = 'AcpError'
    this.code = ACP_ERRORS[kind]
  }
}
