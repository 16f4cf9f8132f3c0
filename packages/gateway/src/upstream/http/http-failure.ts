// What a failed exchange means for the request it carried: which code, in which words, and whether
// the request may be sent once more. Pure; used by the HTTP transports of this folder.

import type { RequestId } from '@sluice/protocol/message'
import { shorten } from '../../shared/log.ts'
import { HTTP_ERROR_SHOWN_LENGTH_MAX, HTTP_HANDLE_LENGTH_MAX } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import type { ResponseHeaders } from './http-response.ts'

export interface RejectedResponse {
  readonly server: string
  readonly request: RequestId | undefined
  readonly status: number
  readonly headers: ResponseHeaders
  /** The beginning of the body. */
  readonly text: string
  /** The request named a session. */
  readonly inSession: boolean
}

export function failureOfStatus(refused: RejectedResponse): UpstreamFailure {
  const { server, request, status, headers, text, inSession } = refused
  const about = { request, status, repeatable: false }
  const who = `the server \`${server}\``
  if (status === 401 || status === 403) {
    const what = status === 401 ? 'wants a login' : 'refuses the login it was given'
    const challenge = headers['www-authenticate']?.slice(0, HTTP_HANDLE_LENGTH_MAX)
    const scope = scopeWanted(challenge)
    if (status === 403 && scope !== undefined)
      return {
        ...about,
        code: 'UPSTREAM_NEEDS_SCOPE',
        message: `${who} wants the scope \`${scope}\``,
        help: `run \`sluice login ${server} --scope ${scope}\``,
      }
    return {
      ...about,
      code: 'UPSTREAM_NEEDS_LOGIN',
      message: `${who} ${what} (${status})`,
      help: `run \`sluice login ${server}\``,
      ...(challenge === undefined ? {} : { challenge }),
    }
  }
  if (status === 404 && inSession)
    return {
      ...about,
      code: 'UPSTREAM_SESSION_GONE',
      message: `${who} no longer knows the session`,
      repeatable: true,
    }
  if (status >= 300 && status < 400) {
    const to = shorten(headers.location ?? 'nowhere', HTTP_ERROR_SHOWN_LENGTH_MAX)
    return {
      ...about,
      code: 'UPSTREAM_REDIRECT',
      message: `${who} sends to \`${to}\` (${status}), which is not followed`,
      help: `if you trust it, make that the \`url\` of \`servers.${server}\``,
    }
  }
  const shown = shorten(text.trim(), HTTP_ERROR_SHOWN_LENGTH_MAX)
  const message = `${who} answered with HTTP ${status}${shown === '' ? '' : `: ${shown}`}`
  // Most often the address of a site without the path of its MCP server.
  const help =
    status === 404 || status === 405
      ? {
          help: `check the path in the \`url\` of \`servers.${server}\`: many servers are at \`/mcp\``,
        }
      : {}
  return { ...about, code: 'UPSTREAM_STATUS', message, ...help }
}

/** The scopes of a step-up challenge (RFC 6750); only the first if they are not plain words. */
function scopeWanted(challenge = ''): string | undefined {
  if (!/error="insufficient_scope"/i.test(challenge)) return undefined
  return /(?:^|[\s,])scope="([\w:./-]{1,256})/i.exec(challenge)?.[1]
}

export function failureOfError(
  server: string,
  request: RequestId | undefined,
  error: Error,
  written: boolean,
): UpstreamFailure {
  const { code } = error as NodeJS.ErrnoException
  const why = shorten(error.message || code || 'no reason given', HTTP_ERROR_SHOWN_LENGTH_MAX)
  if (!written) {
    const message = `the server \`${server}\` cannot be reached: ${why}`
    return { code: 'UPSTREAM_UNREACHABLE', message, request, repeatable: true }
  }
  const message = `the connection to the server \`${server}\` broke: ${why}; whether the request was carried out is unknown`
  return { code: 'UPSTREAM_OUTCOME_UNKNOWN', message, request, repeatable: false }
}
