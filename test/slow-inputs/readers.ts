// Every function that reads text that a client, a server, a file or an agent wrote, with the longest
// text that can reach it. A new one belongs here: the search of slow inputs runs over all of them.

import { DATA_KINDS } from '@sluice/policy/calls/data-kinds'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { findEgressDenial } from '@sluice/policy/decide/egress'
import { objectToFiles } from '@sluice/policy/decide/protected-files'
import { DOCUMENT_LENGTH_MAX } from '@sluice/policy/document/limits'
import { nearest } from '@sluice/policy/document/nearest'
import { parseCel } from '@sluice/policy/expression/cel'
import { parseEmail } from '@sluice/policy/expression/functions/email'
import { parsePolicyPath } from '@sluice/policy/expression/functions/path'
import { parseUrl } from '@sluice/policy/expression/functions/url'
import { wildcardMatches } from '@sluice/policy/language/glob'
import { CANARIES_MAX } from '@sluice/policy/language/limits'
import { checkValues } from '@sluice/policy/provenance/check-call'
import { ANSWER_REMEMBERED_CHARS_MAX } from '@sluice/policy/provenance/limits'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { readsOnly } from '@sluice/policy/readers/sql-reads'
import { runSteps } from '@sluice/policy/structures/steps'
import { parseDecimal } from '@sluice/policy/values/decimal'
import type { JsonObject } from '@sluice/policy/values/json'
import { toCanonicalJsonText } from '../../packages/access/src/approvals/json-text.ts'
import { ARGS_LENGTH_MAX } from '../../packages/access/src/approvals/limits.ts'
import { maskText } from '../../packages/access/src/approvals/mask-text.ts'
import { SessionVault } from '../../packages/access/src/identity/sessions/session-vault.ts'
import { INSTRUCTIONS_LENGTH_MAX } from '../../packages/agents/src/shared/limits.ts'
import {
  BUILTIN_TEMPLATES,
  scanTemplate,
  type Template,
} from '../../packages/agents/src/tools/templates.ts'
import { readImport } from '../../packages/agents/src/transfer/read-import.ts'
import { readRvf } from '../../packages/agents/src/transfer/rvf.ts'
import { Redactor } from '../../packages/agents/src/transfer/secrets.ts'
import { skeletonOf } from '../../packages/catalogue/src/attacks/look-alike.ts'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'
import { rate } from '../../packages/catalogue/src/classify/risk.ts'
import { toolPage } from '../../packages/catalogue/src/pages/tool-page.ts'
import { gradeChange } from '../../packages/catalogue/src/pins/grade-change.ts'
import { readLock } from '../../packages/catalogue/src/pins/lock-file.ts'
import { parseJson } from '../../packages/cli/src/init/files/json-entries.ts'
import { parseToml } from '../../packages/cli/src/init/files/toml-entries.ts'
import { printable, toJson } from '../../packages/cli/src/terminal/output.ts'
import { lineDiff, listHunks } from '../../packages/console/page/src/ui/line-diff.ts'
import { patchOf } from '../../packages/console/src/endpoints/save-policy.ts'
import { openSealed } from '../../packages/gateway/src/call/open-sealed.ts'
import { FastPathReader } from '../../packages/gateway/src/front/fast-path/request-reader.ts'
import { DEFINITION_LENGTH_MAX } from '../../packages/gateway/src/session/limits.ts'
import { INSPECTED_AT_ONCE_LENGTH_MAX } from '../../packages/gateway/src/shared/limits.ts'
import { RELOADED_AT_ONCE_LENGTH_MAX } from '../../packages/gateway/src/state/limits.ts'
import { HTTP_HEADER_BYTES_MAX } from '../../packages/gateway/src/upstream/limits.ts'
import { findInAnswer } from '../../packages/guard/src/answer-injections.ts'
import { findExternalLinksSteps } from '../../packages/guard/src/external-links.ts'
import { findCanarySteps } from '../../packages/guard/src/find-canary.ts'
import { findHidden, stripHidden } from '../../packages/guard/src/hidden-text.ts'
import { findInjections } from '../../packages/guard/src/injections.ts'
import { holdsSecretSteps } from '../../packages/guard/src/inspect-answer.ts'
import { inspectDefinition } from '../../packages/guard/src/inspect-definition.ts'
import {
  ANSWER_CHARS_MAX,
  ARGUMENTS_AT_ONCE_LENGTH_MAX,
  BINARY_CHARS_MAX,
  DEFINITION_CHARS_MAX,
  MESSAGE_CHARS_MAX,
} from '../../packages/guard/src/limits.ts'
import {
  canHoldData,
  holdsDataSteps,
  locateDataSteps,
} from '../../packages/guard/src/locate-data.ts'
import { newScanBudget } from '../../packages/guard/src/patterns.ts'
import { findSecrets } from '../../packages/guard/src/secrets.ts'
import { foldLookAlikes } from '../../packages/guard/src/show/look-alikes.ts'
import { markdownOf } from '../../packages/guard/src/show/page-markdown.ts'
import { decode as decodeRecord } from '../../packages/ledger/src/records/decoding.ts'
import { NAME_LENGTH_MAX, URI_LENGTH_MAX } from '../../packages/protocol/src/json/limits.ts'
import { splitMembers } from '../../packages/protocol/src/json/raw-members.ts'
import { readJson } from '../../packages/protocol/src/json/read-json.ts'
import { LineSplitter } from '../../packages/protocol/src/lines.ts'
import { readMessages } from '../../packages/protocol/src/read-message.ts'
import { EventParser } from '../../packages/protocol/src/sse.ts'
import { UriTemplate } from '../../packages/protocol/src/uri-template.ts'
import { compiled } from '../support/arbitrary-policies.ts'
import {
  answerOf,
  compileInSlices,
  fullVault,
  inspectSteps,
  jsonWithin,
  RVF,
  readResponse,
  readTree,
  remember,
  resultOf,
  rewriteSteps,
  rvfOf,
  SEED,
  sealedCall,
  shortStrings,
  strings,
  strip,
} from './reader-inputs.ts'
import type { TextReader } from './search.ts'

const ALL_KINDS = new Set(DATA_KINDS)
const CANARIES = new Map(
  Array.from({ length: CANARIES_MAX }, (_, at) => [`key ${at}`, `ab12-cd34-ef56-${at}`]),
)
const EGRESS = compiled({ version: 1, default: 'allow', egress: { 's/*': ['a.example'] } })
const callOf = (args: JsonObject) => ({ server: 's', name: 't', method: 'tools/call', args })
const KB = 1_024
const MB = 1_048_576
/** What the guard is given of one definition or answer: more is not looked through, and counts as found. */
const GUARDED = ANSWER_CHARS_MAX
/** A long text is looked through for orders in parts of this length. */
const PART = 64 * KB
/** A message of a client or a server. */
const MESSAGE = 16 * MB

const OWN_PATHS = ['/srv/gate/sluice.yaml', '/srv/gate/.sluice', '/srv/gate/rules.yaml']

/** What a pipe or a socket gives at once. */
const CHUNK = 64 * KB

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decode = (bytes: Uint8Array) => utf8.decode(bytes)
const tool = (more: object): ToolDefinition => ({ server: 's', name: 't', ...more })
const pathOf = (text: string) => ({ inputSchema: { properties: { path: { description: text } } } })
const call = (text: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${text}}}`

export const TEXT_READERS: readonly TextReader[] = [
  reader('guard: findHidden', GUARDED, findHidden),
  reader('guard: stripHidden', PART, stripHidden),
  reader('core: foldLookAlikes', DEFINITION_CHARS_MAX, foldLookAlikes),
  reader('guard: findInjections', DEFINITION_CHARS_MAX, (text) =>
    findInjections(text, newScanBudget('at once')),
  ),
  reader('guard: findInAnswer', PART, findInAnswer),
  reader('guard: findSecrets', GUARDED, findSecrets),
  reader('guard: locateData (in slices)', GUARDED, (text) =>
    locateDataSteps(text, ALL_KINDS, newScanBudget()),
  ),
  reader('guard: findExternalLinks (in slices)', MESSAGE_CHARS_MAX, (text) =>
    findExternalLinksSteps(text, () => false),
  ),
  prepared('gateway: rewriteAnswer (in slices)', MESSAGE_CHARS_MAX, (text) => {
    const answer = answerOf({ text })
    return () => rewriteSteps(answer, new SessionVault())
  }),
  prepared('gateway: rewriteAnswer, many texts (in slices)', MESSAGE_CHARS_MAX, (text) => {
    const answer = answerOf({ texts: shortStrings(text) })
    return () => rewriteSteps(answer, new SessionVault())
  }),
  prepared('gateway: rewriteAnswer, with sealed values (in slices)', MESSAGE_CHARS_MAX, (text) => {
    // Halves of characters only come as escapes, which make the message as long as may be with fewer of them.
    const answer = answerOf({ text: text.replace(/\p{Cs}/gu, '?') })
    const vault = fullVault(text)
    return () => rewriteSteps(answer, vault)
  }),
  prepared('gateway: rewriteAnswer, at once', INSPECTED_AT_ONCE_LENGTH_MAX, (text) => {
    const answer = answerOf({ texts: shortStrings(text) })
    return () => runSteps(rewriteSteps(answer, new SessionVault(), 'at once'))
  }),
  prepared(
    'gateway: rewriteAnswer, sealed values at once',
    INSPECTED_AT_ONCE_LENGTH_MAX,
    (text) => {
      const answer = answerOf({ texts: shortStrings(text.replace(/\p{Cs}/gu, '?')) })
      const vault = fullVault(text)
      return () => runSteps(rewriteSteps(answer, vault, 'at once'))
    },
  ),
  prepared('gateway: openSealed', MESSAGE, (text) => {
    const sealed = sealedCall(text)
    return () => openSealed(sealed)
  }),
  prepared('guard: findCanary (in slices)', MESSAGE, (text) => {
    const texts = strings(text)
    return () => findCanarySteps(texts, CANARIES)
  }),
  reader('guard: findCanary, one text (in slices)', MESSAGE, (text) =>
    findCanarySteps({ text }, CANARIES),
  ),
  prepared('guard: holdsData (in slices)', MESSAGE, (text) => {
    const value = { a: strings(text) }
    return () => holdsDataSteps(value, 'iban')
  }),
  reader('guard: inspectDefinition, one text', MESSAGE, (text) => inspectDefinition({ text })),
  prepared('guard: inspectDefinition, many texts', MESSAGE, (text) => {
    const texts = strings(text)
    return () => inspectDefinition(texts)
  }),
  reader('guard: inspectDefinition, a name', MESSAGE, (text) => inspectDefinition({ [text]: 1 })),
  reader('guard: inspectAnswer, one text (in slices)', MESSAGE, (text) =>
    inspectSteps({ content: [{ type: 'text', text }] }),
  ),
  prepared('guard: inspectAnswer, many texts (in slices)', MESSAGE, (text) => {
    const texts = strings(text)
    return () => inspectSteps(texts)
  }),
  prepared('guard: inspectAnswer, at once', INSPECTED_AT_ONCE_LENGTH_MAX, (text) => {
    const value = { content: shortStrings(text) }
    return () => runSteps(inspectSteps(value))
  }),
  prepared('guard: inspectAnswer, a picture (in slices)', (3 / 4) * BINARY_CHARS_MAX, (text) => {
    const data = Buffer.from(text).toString('base64').slice(0, BINARY_CHARS_MAX)
    return () => inspectSteps({ data })
  }),
  prepared('guard: holdsSecret (in slices)', MESSAGE, (text) => {
    const value = { a: strings(text) }
    return () => holdsSecretSteps(value)
  }),
  reader('guard: holdsSecret, one text (in slices)', MESSAGE, (text) => holdsSecretSteps({ text })),
  prepared('guard: holdsSecret, short texts (in slices)', MESSAGE, (text) => {
    const texts = shortStrings(text)
    return () => holdsSecretSteps(texts)
  }),
  prepared('guard: holdsData, short texts (in slices)', MESSAGE, (text) => {
    const texts = shortStrings(text)
    return () => holdsDataSteps(texts, 'iban')
  }),
  prepared('guard: data in arguments, at once', ARGUMENTS_AT_ONCE_LENGTH_MAX, (text) => {
    const args = { text, texts: shortStrings(text) }
    return () => [
      runSteps(holdsSecretSteps(args)),
      runSteps(holdsDataSteps(args, 'iban')),
      runSteps(holdsDataSteps(args, 'card')),
      runSteps(findCanarySteps(args, CANARIES)),
    ]
  }),
  reader('guard: canHoldData', INSPECTED_AT_ONCE_LENGTH_MAX, (text) =>
    canHoldData(text, ALL_KINDS),
  ),
  reader('catalogue: classify, name', NAME_LENGTH_MAX, (name) => classify(tool({ name }))),
  reader('catalogue: classify, description', DEFINITION_LENGTH_MAX, (description) =>
    classify(tool({ description })),
  ),
  reader('catalogue: classify, argument', DEFINITION_LENGTH_MAX, (text) =>
    classify(tool(pathOf(text))),
  ),
  reader('catalogue: rate', DEFINITION_LENGTH_MAX, (text) =>
    rate(tool({ name: text, description: text }), 'Write'),
  ),
  reader('catalogue: gradeChange', DEFINITION_LENGTH_MAX, (description) =>
    gradeChange(tool({ description: 'old' }), tool({ description })),
  ),
  reader('catalogue: toolPage', DEFINITION_LENGTH_MAX, (description) =>
    markdownOf(toolPage(tool({ description, name: description.slice(0, 200) }))),
  ),
  reader('catalogue: skeletonOf', NAME_LENGTH_MAX, skeletonOf),
  reader('catalogue: readLock', MB, readLock),
  reader('policy: namesOwnFiles', MESSAGE, (text) => objectToFiles(text, OWN_PATHS)),
  prepared('policy: namesOwnFiles, many texts', MESSAGE, (text) => {
    const texts = strings(text)
    return () => objectToFiles(texts, OWN_PATHS)
  }),
  reader('policy: egress, an argument', MESSAGE, (text) =>
    findEgressDenial(EGRESS, callOf({ text })),
  ),
  reader('policy: egress, an address', MESSAGE, (url) => findEgressDenial(EGRESS, callOf({ url }))),
  reader('policy: parsePath', MESSAGE, parsePolicyPath),
  reader('policy: parseUrl', MESSAGE, parseUrl),
  reader('policy: parseEmail', MESSAGE, parseEmail),
  reader('policy: wildcardMatches', URI_LENGTH_MAX, (text) =>
    wildcardMatches('file:///a*a*b*/?x*', text),
  ),
  reader('policy: provenance, an answer', 2 * ANSWER_REMEMBERED_CHARS_MAX, (text) =>
    remember([text]),
  ),
  prepared('policy: provenance, many fields', 2 * ANSWER_REMEMBERED_CHARS_MAX, (text) => {
    const fields = strings(text)
    return () => remember([], fields)
  }),
  reader('policy: provenance, a prompt', MESSAGE, (text) =>
    new SessionProvenance(SEED).addPrompt(text),
  ),
  prepared('policy: provenance, arguments', MESSAGE, (text) => {
    const args = { to: text, body: text, list: strings(text) }
    const call = { name: 'send', category: 'Write', args } as const
    return () => checkValues(call, new SessionProvenance(SEED), 'strict')
  }),
  reader('policy: parseCel', 4_096, parseCel),
  prepared('policy: compile (in slices)', DOCUMENT_LENGTH_MAX, compileInSlices),
  prepared('policy: compile, a condition (in slices)', DOCUMENT_LENGTH_MAX, (text) =>
    compileInSlices(
      JSON.stringify({
        version: 1,
        default: 'deny',
        tools: { 'a/b': { action: 'allow', when: text } },
      }),
    ),
  ),
  reader('document: readDocument, at once', RELOADED_AT_ONCE_LENGTH_MAX, readTree),
  reader('document: readDocument (thread)', DOCUMENT_LENGTH_MAX, readTree),
  reader('document: nearest', 512, (text) => nearest(text, ['default', 'version', text.slice(1)])),
  reader('core: readsOnly (SQL)', MESSAGE, readsOnly),
  reader('core: parseDecimal', 1_000, parseDecimal),
  reader('protocol: readMessages', MESSAGE, (text) => readMessages(text, { batches: false })),
  reader('protocol: readMessages, arguments', MESSAGE, (text) =>
    readMessages(call(text), { batches: true }),
  ),
  reader('protocol: readMessages, a string', MESSAGE, (text) =>
    readMessages(call(`{"a":"${text}"}`), { batches: false }),
  ),
  reader('protocol: readMessages, a string without an end', MESSAGE, (text) =>
    readMessages(`"${text}`, { batches: false }),
  ),
  reader('protocol: membersOf', MESSAGE, (text) => splitMembers(`{"a":${text}}`)),
  reader('protocol: EventParser, one chunk', CHUNK, (text) =>
    new EventParser(decode).push(Buffer.from(text).subarray(0, CHUNK)),
  ),
  reader('protocol: LineSplitter, one chunk', CHUNK, (text) =>
    new LineSplitter(decode).push(Buffer.from(text).subarray(0, CHUNK)),
  ),
  reader('gateway: ResponseReader, one chunk', CHUNK, (text) =>
    readResponse(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text}`),
  ),
  reader('gateway: ResponseReader, a head', HTTP_HEADER_BYTES_MAX, (text) =>
    readResponse(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`),
  ),
  reader('protocol: UriTemplate', 4_096, (text) =>
    new UriTemplate(text).fits(text.slice(0, 2_048)),
  ),
  reader('gateway: PlainReader', 64 * KB, (text) => {
    const head = 'POST /mcp HTTP/1.1\r\nHost: a\r\n'
    return new FastPathReader().read(Buffer.from(head + text, 'latin1'))
  }),
  prepared('gateway: stripOwnTokens (in slices)', MESSAGE, (text) => {
    const message = resultOf(text)
    return () => strip(message)
  }),
  prepared('gateway: stripOwnTokens, many texts (in slices)', MESSAGE, (text) => {
    const message = resultOf(text, 80)
    return () => strip(message)
  }),
  prepared('approvals: maskText', ARGS_LENGTH_MAX, (text) => {
    const args = jsonWithin(text, ARGS_LENGTH_MAX)
    return () => maskText(args)
  }),
  reader('admin: patchOf', DOCUMENT_LENGTH_MAX, (text) =>
    patchOf('policy.yaml', text, `${text.slice(0, text.length / 2)}\n${text}`),
  ),
  reader('console: lineDiff (browser)', MB, (text) => listHunks(lineDiff(text, `a\n${text}\nb`))),
  prepared('admin: a body', MB, (text) => {
    const body = jsonWithin(text, MB)
    return () => readJson(body).ok && JSON.parse(body)
  }),
  reader('approvals: canonicalText', MB, (text) => toCanonicalJsonText(text)),
  prepared('agents: readRvf', RVF, (text) => {
    const bytes = rvfOf(text)
    return () => readRvf(bytes)
  }),
  reader('agents: scanTemplate', INSTRUCTIONS_LENGTH_MAX, (text) =>
    scanTemplate({ ...(BUILTIN_TEMPLATES[0] as Template), instructions: text }),
  ),
  reader('agents: Redactor (thread)', 8 * MB, (text) => new Redactor(false).text(text, 'x')),
  prepared('agents: readImport (thread)', 8 * MB, (text) => {
    const bytes = Buffer.from(`{"info":${JSON.stringify(text)}}`)
    return () => readImport(bytes)
  }),
  prepared('ledger: decodeRecord', 256 * KB, (text) => {
    const record = JSON.stringify([1, 1, 4, 1, text])
    return () => decodeRecord(record)
  }),
  reader('cli: printable', MESSAGE, printable),
  reader('cli: toJson', MESSAGE, (text) => toJson({ text })),
  reader('init: parseJson', 8 * MB, (text) => parseJson(text, 'f')),
  reader('init: parseToml', 8 * MB, (text) => parseToml(text, 'f')),
]

function reader(name: string, charsMax: number, run: (text: string) => unknown): TextReader {
  return { name, charsMax, prepare: (text) => () => run(text) }
}

function prepared(name: string, charsMax: number, prepare: TextReader['prepare']): TextReader {
  return { name, charsMax, prepare }
}
