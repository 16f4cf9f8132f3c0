// A command that the gate does not carry out: what was wrong and what to do. Thrown by whoever
// handles it, told to the command over the socket.

export class Refused extends Error {
  readonly help: string
  constructor(message: string, help: string) {
    super(message)
    this.help = help
  }
}
