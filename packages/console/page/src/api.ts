// HTTP client of the admin API: requests with the token, which only memory has. A refusal
// of the gate becomes an ApiError with its code, what was wrong and what to do.

export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly help: string

  constructor(status: number, code: string, message: string, help: string) {
    super(message)
    this.status = status
    this.code = code
    this.help = help
  }
}

/** The browser's own words for a passkey that was not used are not meant for people. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { name, message } = error as Error
  if (name === 'NotAllowedError' || name === 'AbortError')
    return new ApiError(0, 'CANCELLED', 'the passkey was not used', 'try again when you are ready')
  return new ApiError(0, name, message, '')
}

let token: string | undefined
let onSignedOut: () => void = () => {}

export function holdToken(value: string | undefined): void {
  token = value
}

export const heldToken = (): string | undefined => token

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

export function withAuthorization(headers: Record<string, string> = {}): Record<string, string> {
  return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
}

const FRESH = { cache: 'no-store', redirect: 'error' } as const

export async function call<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  {
    signal,
    proof,
  }: {
    readonly signal?: AbortSignal | undefined
    /** A passkey assertion for exactly this request. */
    readonly proof?: string
  } = {},
): Promise<Answer> {
  const headers = withAuthorization({
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(proof !== undefined && { 'sluice-proof': proof }),
  })
  const request: RequestInit = {
    ...FRESH,
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }
  const response = await fetch(`/api${path}`, request).catch((error: Error) => {
    if (error.name === 'AbortError') throw error
    throw new ApiError(0, 'UNREACHABLE', 'the gate does not answer', 'is it running?')
  })
  if (!response.ok) throw await refusal(response)
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

export async function refusal(response: Response): Promise<ApiError> {
  if (response.status === 401 && token !== undefined) onSignedOut()
  const body = await response.json().catch(() => ({}))
  const error = body.error ?? body
  const text = (value: unknown, otherwise: string) =>
    typeof value === 'string' && value !== '' ? value : otherwise
  return new ApiError(
    response.status,
    text(error.code, String(response.status)),
    text(error.message, `the gate answered ${response.status}`),
    text(error.help, ''),
  )
}

export const get = <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  call<Answer>('GET', path, undefined, { signal })

export const post = <Answer>(path: string, body?: unknown): Promise<Answer> =>
  call<Answer>('POST', path, body)

/** `?a=1&b=2` from the given values. */
export function formatQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Saves a file from the gate with the browser. */
export async function download(
  path: string,
  {
    name,
    signal,
  }: {
    /** The gate's name for it by default. */
    readonly name?: string
    readonly signal?: AbortSignal
  },
): Promise<string> {
  const request = { ...FRESH, headers: withAuthorization(), signal: signal ?? null }
  const response = await fetch(`/api${path}`, request)
  if (!response.ok) throw await refusal(response)
  const content = await response.blob()
  const filename = /filename="([\w.-]+)"/.exec(
    response.headers.get('content-disposition') ?? '',
  )?.[1]
  const called = name ?? filename ?? 'sluice'
  save(content, called)
  return called
}

export function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
