// The base of errors that are reported with a code of docs/reference/errors.md.

export class CodedError<Code extends string> extends Error {
  readonly code: Code
  /** What to do about it. */
  readonly help: string
  constructor(code: Code, message: string, help: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.help = help
  }
}
