// The part of the library `pg` that this driver uses. It has no types of its own.

declare module 'pg' {
  export interface ClientConfig {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly password?: string
    readonly database: string
    readonly ssl: false | Readonly<Record<string, unknown>>
    readonly application_name?: string
    readonly connectionTimeoutMillis: number
    readonly keepAlive: boolean
    /** A statement is sent without waiting for the result of the one before. */
    readonly pipeline?: boolean
  }

  export interface QueryResult {
    readonly rows: readonly Readonly<Record<string, unknown>>[]
  }

  export class Client {
    constructor(config: ClientConfig)
    connect(): Promise<void>
    /** A text of several statements has a result for each of them. */
    query(text: string): Promise<QueryResult | QueryResult[]>
    query(text: string, values: readonly unknown[]): Promise<QueryResult>
    end(): Promise<void>
    on(event: 'error' | 'end', listener: (error?: Error) => void): this
    readonly connection: { readonly stream: { destroy(): void } }
  }

  export const types: { setTypeParser(oid: number, parse: (text: string) => unknown): void }
}
