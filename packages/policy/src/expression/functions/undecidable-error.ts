// Thrown by the functions of the language if a value can be read in more than one way. The
// evaluator turns it into "cannot be decided", which takes the stronger of a rule's two actions:
// neither `within(...)` nor `!within(...)` may allow a value that was crafted to be misread.

const SHOWN_LENGTH_MAX = 80
// Characters that forge lines or hide text where the message is shown, and the quotes of the
// message.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}`]/gu

export class UndecidableError extends Error {
  override readonly name = 'Undecided'

  /** `what` could not be decided, for `value` if one is shown. */
  constructor(what: string, value?: string) {
    super(
      value === undefined ? what : `${what}: \`${ellipsize(value).replace(UNSHOWABLE, '\ufffd')}\``,
    )
  }
}

function ellipsize(value: string): string {
  return value.length > SHOWN_LENGTH_MAX ? `${value.slice(0, SHOWN_LENGTH_MAX - 1)}…` : value
}
