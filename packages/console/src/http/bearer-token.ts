// Reads request headers: one value by name, and the bearer token of `Authorization`.
// A header that is sent twice has no value.

import type { IncomingMessage } from 'node:http'

export function bearerOf(request: IncomingMessage): string | undefined {
  return /^bearer +([\w.~+/=-]{1,16384}) *$/i.exec(headerOf(request, 'authorization') ?? '')?.[1]
}

export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}
