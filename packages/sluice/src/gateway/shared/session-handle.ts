// What a session's name says to a gate that was started again: how to go on with the server, and what
// the client had declared. Written by the relay when the session begins; read by it and by the link to the server.

import type { Declared } from './server-questions.ts'

export function writeSessionHandle(server: string, declared: Declared): string {
  return JSON.stringify([server, declared])
}

/** A name from before clients' capabilities were kept declares nothing. */
export function readSessionHandle(text: string): { server: string; declared: Declared } {
  const [server, declared] = JSON.parse(text) as [string, Declared | string]
  return typeof declared === 'string' ? { server: text, declared: [] } : { server, declared }
}

export function declaredBefore(handle: string | undefined): Declared {
  return handle === undefined ? [] : readSessionHandle(handle).declared
}
