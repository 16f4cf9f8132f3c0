// What a call is called wherever people see it. A call of a client has the name of its tool; what a
// server asks of its client has no name, so its method is the title, with who asks and what for. Pure.

/** What a server may ask of a client, and what for. */
export const SERVER_REQUESTS: ReadonlyMap<string, string> = new Map([
  ['roots/list', 'the folders that its client works in'],
  ['sampling/createMessage', 'an answer of the model of its client'],
  ['elicitation/create', 'an answer of the person at its client'],
])

export interface TitledCall {
  readonly server: string
  readonly method: string
  /** Tool name, resource URI or prompt name. */
  readonly name: string
  /** The line of a shell command, if it is stored. */
  readonly commandLine?: string | undefined
}

/** Which call it is, for records, lists and requests for approval. */
export interface CallIdentity extends Omit<TitledCall, 'commandLine'> {
  readonly callId: string
  readonly agent: string | null
  readonly session: string
}

export function titleOfCall({ server, method, name, commandLine }: TitledCall): string {
  if (SERVER_REQUESTS.has(method)) return method
  if (commandLine !== undefined) return `${server} $ ${commandLine}`
  return `${server}/${name === '' ? method : name}`
}

/** Who asks and what for, if that is a server; undefined for calls of clients. */
export function describeServerRequest({ server, method }: TitledCall): string | undefined {
  const purpose = SERVER_REQUESTS.get(method)
  return purpose === undefined ? undefined : `the server ${server} asks for ${purpose}`
}

/** The line of a shell command among what rules read of a call; undefined if it is none, or not stored. */
export function commandLineOf(
  name: string,
  judged: Readonly<Record<string, unknown>>,
): string | undefined {
  const isShell = name === 'Bash' || name === 'BashOutside'
  const line = isShell ? judged['args.command'] : undefined
  return typeof line === 'string' ? line : undefined
}
