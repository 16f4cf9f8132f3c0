import { Pool } from 'undici'
export interface OriginPools {
  readonly calls: Pool
  readonly streams: Pool
}
export declare class HttpPools {
  #private
  to(origin: string): OriginPools
  /** Breaks off what is still open: close the links first. */
  close(): Promise<void>
}
