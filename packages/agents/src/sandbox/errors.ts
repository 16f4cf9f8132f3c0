// Errors of running a guest. Each of them means that the instance is discarded and that the state
// before the call remains.

export const ERRORS = {
  SANDBOX_INTERRUPTED: 'a guest used up the steps it had (soft limit)',
  SANDBOX_TIMEOUT: 'a guest used up its processor time (hard limit)',
  SANDBOX_TRAP: 'a guest ran into a WebAssembly trap',
  SANDBOX_THREW: 'a guest threw an exception out of its core',
  SANDBOX_ANSWER: 'a guest answered with something that is not an answer',
  SANDBOX_IMAGE: 'an image or a delta is damaged, or was made for another core',
  SANDBOX_THREAD: 'a thread that runs guests ended, or had to be ended',
  SANDBOX_LOST: 'a thread no longer has the instance of a program, which is run again',
} as const

export type SandboxErrorCode = keyof typeof ERRORS

export class SandboxError extends Error {
  readonly code: SandboxErrorCode
  constructor(code: SandboxErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
