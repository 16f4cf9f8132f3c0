// An operation that the gate refuses to a person or a command: what was wrong and what to do.
// Reported over the socket or the API.

export class OperationError extends Error {
  readonly help: string
  constructor(message: string, help: string) {
    super(message)
    this.help = help
  }
}

/** The request itself does not fit what the operation takes. */
export class InputError extends OperationError {}

/** What the gate stores with cannot be used now. */
export class OutageError extends OperationError {}

/** What the request names is not there. */
export class NotFoundError extends OperationError {}
