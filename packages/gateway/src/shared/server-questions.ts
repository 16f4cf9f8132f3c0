// Whether what a server asks may be put to a client: only what the client declared that it takes
// (roots, sampling, elicitation and its modes), no page that is not a plain web address, nothing that
// a person would read differently from a program. Pure; asked before the policy is.

import { isSafeUrl } from '@sluice/access/identity/oauth/safe-url'
import { findHidden } from '@sluice/guard/hidden-text'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { APPS, listExtensions } from '@sluice/protocol/extensions'
import { RPC } from '@sluice/protocol/rpc-codes'
import { PAGE_URL_LENGTH_MAX } from './limits.ts'

export interface QuestionFault {
  readonly code: number
  readonly why: string
}

/** What a client has said that it takes: `roots`, `sampling`, `sampling.tools`, `elicitation.form`,
 * `elicitation.url`; `apps` if it shows pages of apps. */
export type DeclaredCapabilities = readonly string[]

export function listDeclaredCapabilities(
  capabilities: JsonValue | undefined,
): DeclaredCapabilities {
  if (!isObject(capabilities)) return []
  const { roots, sampling, elicitation } = capabilities
  const declared: string[] = []
  if (listExtensions(capabilities)[APPS] !== undefined) declared.push('apps')
  if (isObject(roots)) declared.push('roots')
  if (isObject(sampling)) declared.push('sampling')
  if (isObject(sampling) && isObject(sampling.tools)) declared.push('sampling.tools')
  if (!isObject(elicitation)) return declared
  // A client that says nothing of modes has forms, as all had before there were pages.
  if (elicitation.form !== undefined || elicitation.url === undefined)
    declared.push('elicitation.form')
  if (isObject(elicitation.url)) declared.push('elicitation.url')
  return declared
}

/** Why the question may not reach the client; undefined if it may. */
export function questionFault(
  method: string,
  params: JsonObject,
  declared: DeclaredCapabilities,
): QuestionFault | undefined {
  const isPage = method === 'elicitation/create' && params.mode === 'url'
  const needed = neededFor(method, params)
  if (needed === undefined)
    return invalid(`\`mode\` of \`${method}\` must be \`form\` or \`url\`, or absent`)
  if (!declared.includes(needed)) {
    const why = `\`${method}\` is not for this client: it did not declare \`${needed}\``
    // The client has the method, but not in this form.
    return isPage || needed === 'sampling.tools' ? invalid(why) : { code: RPC.methodNotFound, why }
  }
  const hidden = hiddenIn(params, 'params')
  if (hidden !== undefined) return invalid(`${hidden}: say it in characters that a person sees`)
  return isPage ? pageFault(params.url) : undefined
}

function neededFor(method: string, params: JsonObject): string | undefined {
  if (method === 'roots/list') return 'roots'
  if (method === 'sampling/createMessage') {
    const wantsTools = params.tools !== undefined || params.toolChoice !== undefined
    return wantsTools ? 'sampling.tools' : 'sampling'
  }
  const { mode = 'form' } = params
  return mode === 'form' || mode === 'url' ? `elicitation.${mode}` : undefined
}

const WEB_ADDRESS = /^https?:\/\/[^\s\\]+$/i
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** A page that a person is asked to open. Anything but a web address would be run, or read from the
 * disk, by whatever opens it; a sign-in link of a gate would sign the person in as somebody else. */
function pageFault(url: JsonValue | undefined): QuestionFault | undefined {
  if (typeof url !== 'string') return invalid('`url` must be a string')
  if (url.length > PAGE_URL_LENGTH_MAX)
    return invalid(`\`url\` has more than ${PAGE_URL_LENGTH_MAX} characters`)
  if (!VISIBLE_ASCII.test(url))
    return invalid('`url` must be visible ASCII: encode everything else')
  if (!WEB_ADDRESS.test(url) || !isSafeUrl(url))
    return invalid('`url` must be https without user info, or http to this machine')
  const { hash } = new URL(url)
  if (new URLSearchParams(hash.replace(/^#[/?]*/, '')).has('code'))
    return invalid('`url` must not be a sign-in link (`#code=`)')
  return undefined
}

/** Where a text has what a reader does not see, in words; keys of objects are shown, too. */
function hiddenIn(value: JsonValue, at: string): string | undefined {
  if (typeof value === 'string') {
    const [finding] = findHidden(value)
    return finding === undefined ? undefined : `\`${at}\` has hidden text (${finding.text})`
  }
  if (value === null || typeof value !== 'object') return undefined
  for (const [key, part] of Object.entries(value)) {
    const [finding] = findHidden(key)
    if (finding !== undefined) return `a key in \`${at}\` has hidden text (${finding.text})`
    const inner = hiddenIn(part, `${at}.${key}`.slice(0, 200))
    if (inner !== undefined) return inner
  }
  return undefined
}

function invalid(why: string): QuestionFault {
  return { code: RPC.invalidParams, why }
}
