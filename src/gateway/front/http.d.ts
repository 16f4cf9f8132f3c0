import type { Link } from '../link.ts'
export interface HttpFrontOptions {
  readonly host: string
  readonly port: number
  readonly hasServer: (name: string) => boolean
  /** Puts the gate behind a new session; the link is ready for messages when it returns. */
  readonly open: (
    server: string,
    link: Link & {
      revision: string
    },
  ) => void
  readonly ready: () => {
    readonly ok: boolean
    readonly why: string
  }
  readonly nowMs: () => number
}
export declare class HttpFront {
  #private
  constructor(options: HttpFrontOptions)
  listen(): Promise<{
    port: number
  }>
  /** Takes no new requests, lets open ones finish for a while, then ends what is left. */
  close(graceMs: number): Promise<void>
}
