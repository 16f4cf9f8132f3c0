// URIs under which a client reads what was cut off of an answer. They name the server, so that a client of
// all servers reaches the right one.

import { attempt } from '@sluice/policy/structures/attempt'

export const REST_SCHEME = 'sluice-rest:'

const REST_URI = /^sluice-rest:\/\/([^/]*)\/([a-z2-7]{16})$/

export function writeRestUri(server: string, id: string): string {
  return `${REST_SCHEME}//${encodeURIComponent(server)}/${id}`
}

export function parseRestUri(
  uri: string,
): { readonly server: string; readonly id: string } | undefined {
  const [, server, id] = REST_URI.exec(uri) ?? []
  if (server === undefined || id === undefined || !URL.canParse(uri)) return undefined
  return attempt(() => ({ server: decodeURIComponent(server), id }))
}
