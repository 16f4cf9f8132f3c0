import type { IncomingMessage } from 'node:http'
export type Body =
  | {
      readonly text: string
    }
  | {
      readonly text?: undefined
      readonly status: number
      readonly why: string
    }
export declare function readBody(request: IncomingMessage, bytesMax: number): Promise<Body>
