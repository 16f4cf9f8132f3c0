// What the gate does not do for a person or a command: what was wrong and what to do. Thrown by whoever
// handles it, told over the socket or the API.

export class OperationError extends Error {
  readonly help: string
  constructor(message: string, help: string) {
    super(message)
    this.help = help
  }
}
