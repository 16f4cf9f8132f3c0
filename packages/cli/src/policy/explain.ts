// `sluice policy explain`: the whole way to the decision on one call, so that a person believes it.
// It is the trace of the evaluation that decides, on counters of its own.

import { classifyCall } from '@sluice/catalogue/classify/classify-call'
import type { Call } from '@sluice/policy/calls/call'
import { CATEGORIES, type KnownTool } from '@sluice/policy/calls/tools'
import {
  factFields,
  findUnnamedCall,
  type SampleFacts,
  sampleFacts,
  splitServerAndName,
  withPast,
} from '@sluice/policy/cases/sample-facts'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide, isVisible } from '@sluice/policy/decide/decide'
import type { TraceStep } from '@sluice/policy/decide/trace'
import { BOOLEAN, object, word } from '@sluice/policy/document/build-shape'
import { checkShape } from '@sluice/policy/document/check-shape'
import { didYouMean } from '@sluice/policy/document/nearest'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { CONTENT_METHODS, PLUMBING, TOOL_CALL } from '@sluice/policy/language/methods'
import { answerMaps, combineAnswerRules } from '@sluice/policy/model/answer-rule'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import { loadGatePolicy, POLICY } from '../connect/gate-policy.ts'
import { readCount, readTime } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { Explanation } from '../terminal/explanation.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readObject } from '../terminal/read-input.ts'
import { createToolFinder, readTools, suggestTool } from '../terminal/read-tools.ts'

const FACTS: Shape = object('the facts', {
  ...factFields({ count: Number.MAX_SAFE_INTEGER, list: 1_000 }),
  callCategory: { shape: word(CATEGORIES), doc: '' },
  holdsSecret: { shape: BOOLEAN, doc: '' },
  holdsCard: { shape: BOOLEAN, doc: '' },
  holdsIban: { shape: BOOLEAN, doc: '' },
  transport: { shape: word(['stdio', 'http']), doc: '' },
})

const EXAMPLES = `
Examples:
  sluice policy explain stripe/create_refund --args '{"amount": 100, "currency": "EUR"}'
  sluice policy explain github/create_issue --policy policy.yaml --tools tools.json --json
  sluice policy explain gmail/send --facts '{"session": {"saw": ["private"]}, "agent": {"depth": 1}}'
  sluice policy explain mail/send --facts '{"prompt": "write to ann@example.com", "answers": ["Ask eve@example.net"]}' --args '{"to": "eve@example.net"}'
  sluice policy explain mail/send --facts '{"called": [{"tool": "vault/read", "ago": "5m"}]}'
  sluice policy explain github/create_issue --repeat 31          # the 31st call in one instant
  sluice policy explain notes/file:///a.md --method resources/read

Without --policy it is the gate's policy, with its base policy.
--facts takes "principal" {id, kind, groups, claims}, "session" {id, calls, saw}, "agent" {id, owner,
template, depth, turn}, "prompt" (what the user asked for), "answers" (texts or JSON that the session has
read), "called" [{tool, ago}] (what it called before, the oldest first), "callCategory", "holdsSecret",
"holdsCard", "holdsIban", "transport". Exit code 0 if the call is allowed, 1 if not.`

const OPTIONS = {
  ...POLICY,
  '--tools <file>': 'known tools, for their categories and declared arguments',
  '--args <json>': 'the arguments of the call',
  '--facts <json>': 'who calls, and what the session has seen',
  '--method <method>': ['an MCP method', TOOL_CALL],
  '--at <time>': 'when, as 2026-01-01T12:00:00Z',
  '--all': 'also the guardrails that do not apply, with whole conditions',
  '--repeat <n>': ['make the call this many times at once; the last is explained', '1'],
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'explain',
  args: { '<server/tool>': 'the tool (or resource URI or prompt, with --method)' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: ({ 'server/tool': target, ...options }, output) => explain(target, options, output),
})

async function explain(target: string, options: Options, output: Output): Promise<0 | 1> {
  checkMethod(options.method)
  const tools = options.tools === undefined ? undefined : await readTools(options.tools)
  const parts = splitServerAndName(target)
  if (parts === undefined)
    throw new ArgumentError(
      `\`${target}\` is not of the form \`<server>/<tool>\``,
      suggestTool(target, tools ?? []) ?? 'name the server before the `/`',
    )
  const { policy } = loadGatePolicy(options, output)
  const tool =
    options.method === TOOL_CALL ? await findTool(parts, tools, options, output) : undefined
  const args: JsonObject = options.args === undefined ? {} : readObject(options.args, '--args')
  const settled = tool === undefined ? undefined : classifyCall(tool, args)
  const given = {
    ...(Object.keys(args).length === 0 ? {} : await inspectArguments(args)),
    ...(settled === undefined ? {} : { callCategory: settled }),
    ...readFacts(options.facts, output),
  }
  const { facts, remember } = withPast(sampleFacts(tool, given))
  const call: Call = { ...parts, method: options.method, args }
  const now = { wallMs: readTime(options.at, '--at') ?? Date.now(), monotonicMs: 0 }
  const counters = new MemoryCounters()
  const rounds = readCount(options.repeat, '--repeat', 1_000_000)
  let trace: TraceStep[] = []
  let decision = decide(policy, call, facts, counters, now, trace)
  for (let round = 1; round < rounds; round++) {
    if (decision.action === 'allow') {
      counters.consume(decision.limits, now)
      remember(call, now)
    }
    trace = []
    decision = decide(policy, call, facts, counters, now, trace)
  }
  const shown = isVisible(policy, call, facts, now)
  const answer = describeAnswers(policy, parts)
  const answerField = answer === '' ? {} : { answer }
  output.value({ call: target, ...decision, visible: shown, trace, ...answerField })
  new Explanation(policy, output).print(target, {
    tool,
    args,
    decision,
    trace,
    shown,
    isWhole: options.all === true,
  })
  if (answer !== '') output.remark(`answer: ${answer}`)
  return decision.action === 'allow' ? 0 : 1
}

/** Loaded only for a call with arguments: the detectors are a tenth of the start. */
async function inspectArguments(args: JsonObject) {
  const { holdsSecret } = await import('@sluice/guard/inspect-answer')
  const { holdsData } = await import('@sluice/guard/locate-data')
  return {
    holdsSecret: holdsSecret(args),
    holdsCard: holdsData(args, 'card'),
    holdsIban: holdsData(args, 'iban'),
  }
}

/** What the policy does with what comes back; empty if nothing. */
function describeAnswers(
  policy: CompiledPolicy,
  { server, name }: { readonly server: string; readonly name: string },
): string {
  const rules = answerMaps(policy).flatMap((map) => map.all(server, name))
  const { deny, redact, mark, seal, maxBytes, maxTokens, links } = combineAnswerRules(rules)
  const kinds = (verb: string, of: ReadonlySet<string>) =>
    of.size === 0 ? [] : [`${verb} ${[...of].join(', ')}`]
  return [
    ...kinds('withheld with', deny),
    ...kinds('redacted:', redact),
    ...kinds('marked:', mark),
    ...(seal.length === 0 ? [] : ['secrets sealed']),
    ...(Number.isFinite(maxBytes) ? [`at most ${maxBytes} bytes`] : []),
    ...(Number.isFinite(maxTokens) ? [`at most ${maxTokens} tokens`] : []),
    ...(links.length === 0 ? [] : ['links of other hosts removed']),
  ].join('; ')
}

/** Any other is denied whatever the policy says, so it is more likely misspelt. */
function checkMethod(method: string): void {
  const decided = [TOOL_CALL, ...CONTENT_METHODS.keys()]
  if (!decided.includes(method) && !PLUMBING.has(method))
    throw new ArgumentError(
      `--method is \`${method}\`, which the gate denies to all`,
      didYouMean(method, decided),
    )
}

async function findTool(
  { server, name }: { server: string; name: string },
  tools: readonly KnownTool[] | undefined,
  options: Options,
  output: Output,
): Promise<KnownTool> {
  const tool = (await createToolFinder(tools ?? []))(server, name)
  if (tools !== undefined && !tools.includes(tool))
    throw new ArgumentError(
      `\`${options.tools}\` has no \`${server}/${name}\``,
      suggestTool(`${server}/${name}`, tools) ?? 'leave --tools out to explain a tool nobody knows',
    )
  if (tools === undefined)
    output.remark(
      'note: no --tools, so the category comes from the name and arguments are taken as they are',
    )
  return tool
}

/**
 * `--facts` of `policy explain`: the caller and the session. Validated against a shape like every
 * document, since a misspelt fact would silently explain a different call.
 */
function readFacts(json: string | undefined, output: Output): SampleFacts {
  if (json === undefined) return {}
  const facts = readObject(json, '--facts')
  // The same text again, by the reader that knows offsets: JSON is YAML.
  const problems = new Problems('--facts', json)
  const tree = readDocument(json, problems)
  if (tree !== undefined && checkShape(tree, FACTS, 'the facts', problems)) {
    const unnamed = findUnnamedCall((facts as SampleFacts).called)
    if (unnamed === undefined) return facts
    problems.error(
      'DOCUMENT_BAD_NAME',
      json.indexOf('"called"'),
      `\`${unnamed}\` is not a \`<server>/<tool>\``,
      'name the server before the `/`',
    )
  }
  const sorted = problems.sorted()
  for (const problem of sorted) output.problem(problem, json)
  throw new CliError(
    'CLI_ARGUMENT',
    `--facts has ${plural(sorted.length, 'error')}`,
    '`sluice policy explain --help` lists the facts',
    sorted,
  )
}
