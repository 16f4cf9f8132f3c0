import type { ServerResponse } from 'node:http'
export declare class EventStream {
  #private
  constructor(response: ServerResponse, headers: Record<string, string>, onEnd: () => void)
  /** False where the client no longer reads. */
  write(id: string, data: string): boolean
  end(): void
}
