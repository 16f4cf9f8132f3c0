// Who sends a request over HTTP: the bearer token of its Authorization header, or nothing and a
// connection from this machine. A refused client is told how to authenticate (RFC 6750, RFC 9728): a 401
// that names where the metadata of this resource is. If the gate has no authorisation servers there is no
// such metadata, because a client would begin a login that cannot end: tokens are those of grants.

import type { ServerResponse } from 'node:http'
import { type Authenticator, GRANT_HELP } from '@sluice/access/identity/callers/authenticator'
import { AuthenticationError, type Caller } from '@sluice/access/identity/callers/caller'
import { clientDocument } from '@sluice/access/identity/oauth/client-document'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import { TOKEN_LENGTH_MAX } from '../../shared/limits.ts'
import { type FrontRequest, JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'
import { writeOutage } from './rpc-error.ts'

export interface AuthenticateOptions {
  readonly authenticator: Authenticator
  /** Where clients reach the gate, without a slash at its end. */
  readonly baseOf: (request: FrontRequest) => string
  /** Who gives tokens for this gate. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
  /** The URL of the gate's client ID metadata document. */
  readonly clientDocument?: string | undefined
}

const METADATA = '/.well-known/oauth-protected-resource'

export class HttpAuthenticator {
  readonly #options: AuthenticateOptions

  constructor(options: AuthenticateOptions) {
    this.#options = options
  }

  /** The caller; undefined if the request has been answered with the reason for the refusal. */
  caller(
    request: FrontRequest,
    reply: ResponseWriter,
    path: string,
    /** The server of the client whose hook it is. */
    hooks?: string,
  ): Caller | undefined | Promise<Caller | undefined> {
    const refused = (error: unknown): undefined => {
      if (!(error instanceof AuthenticationError)) throw error
      this.#refuse(error, reply, `${this.#options.baseOf(request)}${METADATA}${path}`)
    }
    try {
      request.bearer ??= { token: bearerOf(request) }
      const { token } = request.bearer
      // A caller with a token is who the token says, from wherever it calls.
      const isLocal = token === undefined && isLocalRequest(request)
      const audiences = () => audiencesOf(this.#options.baseOf(request), path)
      const { authenticator } = this.#options
      const connection = request.socket
      const caller = authenticator.admit({ token, isLocal, audiences, connection, hooks })
      return caller instanceof Promise ? caller.catch(refused) : caller
    } catch (error) {
      return refused(error)
    }
  }

  /** Answers where the path is that of the metadata (RFC 9728) of `/mcp` or `/mcp/<server>`. */
  metadata(path: string, request: FrontRequest, response: ServerResponse): boolean {
    const { issuers, scopes, clientDocument: id } = this.#options
    if (id !== undefined && id === `${this.#options.baseOf(request)}${path}`) {
      const headers = { 'content-type': 'application/json', 'cache-control': 'max-age=3600' }
      response.writeHead(200, headers).end(JSON.stringify(clientDocument(id)))
      return true
    }
    // Clients that try OAuth without metadata end here (RFC 7591), and show the person this answer.
    if (issuers.length === 0 && path === '/register') {
      const why = `this gate has no authorisation server; ${GRANT_HELP}`
      const body = { error: 'invalid_request', error_description: why }
      response.writeHead(404, JSON_TYPE).end(JSON.stringify(body))
      return true
    }
    if (issuers.length === 0 || !path.startsWith(METADATA)) return false
    const of = path.slice(METADATA.length)
    if (!/^(\/mcp(\/@?[a-z0-9-]{1,24})?)?$/.test(of)) return false
    const metadata = {
      resource: this.#options.baseOf(request) + (of === '' ? '/mcp' : of),
      authorization_servers: issuers,
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      resource_name: 'Sluice',
    }
    const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
    response.writeHead(200, headers).end(JSON.stringify(metadata))
    return true
  }

  #refuse(why: AuthenticationError, reply: ResponseWriter, metadata: string): void {
    const { error, isFault, message, help } = why
    const { issuers, scopes } = this.#options
    if (isFault) return writeOutage(reply, `${message}; ${help}`)
    const body = writeError(null, RPC.invalidRequest, `${message}; ${help}`)
    const parts = [
      issuers.length === 0 ? 'realm="sluice"' : `resource_metadata="${metadata}"`,
      ...(error === undefined
        ? []
        : [`error="${error}"`, `error_description="${quoted(message)}"`]),
      ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    ]
    const status = error === 'insufficient_scope' ? 403 : 401
    const headers = { ...JSON_TYPE, 'www-authenticate': `Bearer ${parts.join(', ')}` }
    reply.send(status, headers, body)
  }
}

/** What a token may be for: one for all servers is one for each, and not the other way round. */
export function audiencesOf(base: string, path: string): string[] {
  return [`${base}${path}`, `${base}/mcp`]
}

/** Returns undefined only if the header is missing: a malformed one must not authenticate as the local user. */
function bearerOf({ headers: { authorization } }: FrontRequest): string | undefined {
  if (authorization === undefined) return undefined
  const token = /^bearer +([\w~+/.=-]+) *$/i.exec(authorization)?.[1]
  if (token !== undefined && token.length <= TOKEN_LENGTH_MAX) return token
  throw new AuthenticationError(
    'the Authorization header is not a bearer token',
    'send `Authorization: Bearer TOKEN`',
    { error: 'invalid_token' },
  )
}

/** Over loopback, at this gate or at the one that passes it on. */
export function isLocalRequest({ forwarded, socket }: FrontRequest): boolean {
  return forwarded?.isLocal ?? isLoopback(socket.remoteAddress)
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/.test(address)
}

function quoted(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, '?')
}
