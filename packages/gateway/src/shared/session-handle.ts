// What a session's name says to a gate that was started again: how to go on with the server, and what
// the client had declared. Written by the relay when the session begins; read by it and by the link to the server.

import type { DeclaredCapabilities } from './server-questions.ts'

export function writeSessionHandle(server: string, declared: DeclaredCapabilities): string {
  return JSON.stringify([server, declared])
}

/** A name from before clients' capabilities were kept declares nothing. */
export function readSessionHandle(text: string): {
  server: string
  declared: DeclaredCapabilities
} {
  const [server, declared] = JSON.parse(text) as [string, DeclaredCapabilities | string]
  return typeof declared === 'string' ? { server: text, declared: [] } : { server, declared }
}

export function readDeclaredCapabilities(handle: string | undefined): DeclaredCapabilities {
  return handle === undefined ? [] : readSessionHandle(handle).declared
}
