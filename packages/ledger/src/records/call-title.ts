// What a call is called wherever people see it. A call of a client has the name of its tool; what a
// server asks of its client has no name, so its method is the title, with who asks and what for. Pure.

import type { DecisionRecord } from './record.ts'

/** What a server may ask of a client, and what for. */
export const SERVER_REQUESTS: ReadonlyMap<string, string> = new Map([
  ['roots/list', 'the folders that its client works in'],
  ['sampling/createMessage', 'an answer of the model of its client'],
  ['elicitation/create', 'an answer of the person at its client'],
])

/** What is called. */
export interface CalledName {
  readonly server: string
  readonly method: string
  /** Tool name, resource URI or prompt name. */
  readonly name: string
}

/** What a call is about, among what rules read of it. */
export interface CallTarget {
  /** The line of a shell command, if it is stored. */
  readonly commandLine?: string | undefined
  /** The file or address that the call is about, if a rule reads it. */
  readonly place?: string | undefined
}

export interface TitledCall extends CalledName, CallTarget {}

/** Which call it is, for records, lists and requests for approval. */
export interface CallIdentity extends CalledName {
  readonly callId: string
  readonly agent: string | null
  readonly session: string
}

export function titleOfCall(call: TitledCall): string {
  return splitTitle(call).filter(Boolean).join(' ')
}

/** What is called, and what it is about, which is empty if that is not known. */
export function splitTitle({
  server,
  method,
  name,
  commandLine,
  place = '',
}: TitledCall): readonly [called: string, target: string] {
  if (SERVER_REQUESTS.has(method)) return [method, '']
  if (commandLine !== undefined) return [`${server} $`, commandLine]
  return [`${server}/${name === '' ? method : name}`, place]
}

/** Who asks and what for, if that is a server; undefined for calls of clients. */
export function describeServerRequest({ server, method }: TitledCall): string | undefined {
  const purpose = SERVER_REQUESTS.get(method)
  return purpose === undefined ? undefined : `the server ${server} asks for ${purpose}`
}

const PLACES = ['file_path', 'notebook_path', 'path', 'url', 'pattern', 'command'] as const

export function findTarget({ name, judged }: Pick<DecisionRecord, 'name' | 'judged'>): CallTarget {
  const line = name === 'Bash' || name === 'BashOutside' ? judged['args.command'] : undefined
  if (typeof line === 'string') return { commandLine: line }
  const read = PLACES.map((argument) => judged[`args.${argument}`])
  const place = read.find((value) => typeof value === 'string')
  if (typeof place === 'string') return { place }
  const isWithheld = read.some((value) => Object(value).is === 'withheld')
  return isWithheld ? { place: '(not stored)' } : {}
}
