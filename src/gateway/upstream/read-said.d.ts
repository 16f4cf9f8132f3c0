import type { Id, Message } from '../../wire/message.ts'
export type Said =
  | {
      readonly ok: true
      readonly messages: readonly Message[]
    }
  | {
      readonly ok: false
      readonly why: string
      readonly answers: Id | undefined
    }
export declare const decodeUtf8: (bytes: Uint8Array) => string
export declare function readSaid(text: string, batches: boolean): Said
