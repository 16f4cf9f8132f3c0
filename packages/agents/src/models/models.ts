// Models by name: `provider:model`. Which providers there are, which key each needs, and one call to
// any of them. Keys stay here: they enter neither sandbox nor journal nor export. No key and no
// model is an error that says what to set, never an echo. Called by ask-model.ts.

import type { ToolSet } from 'ai'
import type { ChatMessage, ModelTool, ModelUsage, Price, ToolCall } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import { MODEL_OUTPUT_LENGTH_MAX, MODEL_USAGE_TOKENS_MAX } from '../shared/limits.ts'
import { boundedEventFetch, boundedFetch } from './bounded-fetch.ts'
import { playScript } from './script-model.ts'
import { uniqueCalls } from './unique-calls.ts'

export interface ModelRequest {
  readonly model: string
  readonly instructions: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ModelTool[]
  /** Answered calls so far; what a script plays next. */
  readonly turn: number
  readonly signal: AbortSignal
  /** Somebody follows: the answer is streamed, and text is handed on as it comes. */
  readonly onText?: ((text: string) => void) | undefined
}

export interface ModelAnswer {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly usage: ModelUsage
}

/** The form of requests: OpenAI's chat completions, which most servers speak, OpenAI's responses, or Anthropic's messages. */
export type ModelApi = 'chat' | 'responses' | 'anthropic'

export interface ModelProvider {
  /** The base address; that of the maker if left out. */
  readonly url?: string
  /** The environment variable with the key, if one is needed. */
  readonly keyFrom?: string
  /** `chat` if left out. */
  readonly api?: ModelApi
}

/**
 * Where models are, what they cost, and the environment that holds their keys.
 *
 * @example
 * ```ts
 * const models: ModelSettings = { environment: process.env, providers: {}, scripts: './scripts', prices: {} }
 * ```
 */
export interface ModelSettings {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Providers that are added to the known ones, or replace them. */
  readonly providers: Readonly<Record<string, ModelProvider>>
  /** Where `script:` files are; nothing outside of it is read. */
  readonly scripts: string
  /** What one token costs, in millionths, by the model's whole name. */
  readonly prices: Readonly<Record<string, Price>>
}

/** Makers of models, and servers people run on their own machine, where they listen by default. */
const KNOWN: Readonly<Record<string, ModelProvider>> = {
  anthropic: { api: 'anthropic', keyFrom: 'ANTHROPIC_API_KEY' },
  openai: { api: 'responses', keyFrom: 'OPENAI_API_KEY' },
  ollama: { url: 'http://127.0.0.1:11434/v1' },
  vllm: { url: 'http://127.0.0.1:8000/v1' },
  llamacpp: { url: 'http://127.0.0.1:8080/v1' },
}

interface ModelName {
  readonly provider: string
  readonly model: string
}

/** What a model's name means, or why it means nothing here. Checked at create, if no key is needed
 * yet: files, todos, tools and programs of an agent work without one. */
export function checkModelName(name: string, settings: ModelSettings): ModelName {
  const [, provider = '', model = ''] = /^([a-z][a-z0-9_-]{0,63}):([!-~]{1,200})$/.exec(name) ?? []
  if (provider === '')
    throw new AgentError(
      'MODEL_UNKNOWN',
      `\`${name}\` is not a model: write \`provider:model\`, such as \`anthropic:claude-sonnet-4-6\` or \`ollama:llama3\``,
    )
  if (provider !== 'script' && provider !== 'code' && !listKnown(settings).includes(provider))
    throw new AgentError(
      'MODEL_UNKNOWN',
      `there is no provider \`${provider}\`: known are ${listKnown(settings).join(', ')}`,
    )
  return { provider, model }
}

/** The same, and whether it can be asked: before a prompt begins a run. */
export function checkModel(name: string, settings: ModelSettings): ModelName {
  const { provider, model } = checkModelName(name, settings)
  const key = keyVariable(provider, settings)
  if (key !== undefined && !settings.environment[key])
    throw new AgentError('MODEL_KEY_MISSING', `\`${name}\` needs a key: set ${key}`)
  return { provider, model }
}

/** A server or a proxy may repeat the request in its error, with the key, and the error is journaled. */
export function hideKey(text: string, name: string, settings: ModelSettings): string {
  const variable = keyVariable(checkModelName(name, settings).provider, settings)
  const key = variable === undefined ? undefined : settings.environment[variable]
  return key ? text.replaceAll(key, '[key]') : text
}

function keyVariable(provider: string, settings: ModelSettings): string | undefined {
  return providerOf(provider, settings)?.keyFrom
}

function providerOf(name: string, { providers }: ModelSettings): ModelProvider | undefined {
  if (Object.hasOwn(providers, name)) return providers[name]
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
}

function listKnown({ providers }: ModelSettings): string[] {
  return [...new Set([...Object.keys(KNOWN), ...Object.keys(providers), 'script'])]
}

/** Asks once; who wants more attempts asks again. */
export async function callModel(
  request: ModelRequest,
  settings: ModelSettings,
): Promise<ModelAnswer> {
  const { provider, model } = checkModel(request.model, settings)
  if (provider === 'script') return playScript(model, request, settings.scripts)
  // Loaded here: only processes that call a model pay for it.
  const { generateText, jsonSchema, tool, wrapLanguageModel } = await import('ai')
  const { middleware, refused } = uniqueCalls(request.onText)
  const tools = Object.fromEntries(
    request.tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema as object) }),
    ]),
  ) as ToolSet
  const result = await generateText({
    model: wrapLanguageModel({
      model: await languageModel(
        { provider, model },
        settings,
        request.onText === undefined ? boundedFetch : boundedEventFetch,
      ),
      middleware,
    }),
    messages: toModelMessages(request.messages),
    ...(request.instructions === '' ? {} : { instructions: request.instructions }),
    ...(request.tools.length === 0 ? {} : { tools }),
    maxRetries: 0,
    abortSignal: request.signal,
  })
  const outputChars = result.text.length + JSON.stringify(result.toolCalls).length
  if (outputChars > MODEL_OUTPUT_LENGTH_MAX)
    throw new AgentError(
      'MODEL_FAILED',
      `the model said ${outputChars} characters in one turn, at most ${MODEL_OUTPUT_LENGTH_MAX}`,
    )
  return {
    text: result.text,
    toolCalls: result.toolCalls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input,
      ...(refused.has(toolCallId) ? { refused: refused.get(toolCallId) as string } : {}),
    })),
    usage: usageOf(request, result),
  }
}

async function languageModel(
  { provider, model }: ModelName,
  settings: ModelSettings,
  fetch: typeof boundedFetch,
) {
  const { url, keyFrom, api = 'chat' } = providerOf(provider, settings) ?? {}
  const apiKey = (keyFrom === undefined ? undefined : settings.environment[keyFrom]) ?? ''
  const options = { apiKey, fetch, ...(url === undefined ? {} : { baseURL: url }) }
  if (api === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic(options)(model)
  }
  if (api === 'responses') {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI(options).responses(model)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = apiKey === '' ? {} : { apiKey }
  const named = { name: provider, baseURL: url ?? '', includeUsage: true, fetch }
  return createOpenAICompatible({ ...named, ...key })(model)
}

type ModelMessages = NonNullable<Parameters<typeof import('ai').generateText>[0]['messages']>

/** Results of one turn are one message there. */
function toModelMessages(messages: readonly ChatMessage[]): ModelMessages {
  const out: ModelMessages = []
  for (const message of messages) {
    if (message.role === 'user') out.push({ role: 'user', content: message.content })
    else if (message.role === 'assistant')
      out.push({
        role: 'assistant',
        content: [
          ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
          ...message.toolCalls.map(({ id, name, input }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input,
          })),
        ],
      })
    else {
      const result = {
        type: 'tool-result' as const,
        toolCallId: message.callId,
        toolName: message.name,
        output: {
          type: message.isError ? ('error-text' as const) : ('text' as const),
          value: message.content,
        },
      }
      const last = out.at(-1)
      if (last?.role === 'tool') last.content.push(result)
      else out.push({ role: 'tool', content: [result] })
    }
  }
  return out
}

/** A server that does not count must not be free of charge: a token is taken to be four characters. */
function usageOf(
  { messages, instructions }: ModelRequest,
  result: {
    usage: { inputTokens?: number | undefined; outputTokens?: number | undefined }
    text: string
    toolCalls: readonly unknown[]
  },
): ModelUsage {
  const length = JSON.stringify(messages).length + instructions.length
  const outputChars = result.text.length + JSON.stringify(result.toolCalls).length
  const count = (reported: number | undefined, characters: number): number =>
    reported !== undefined && Number.isSafeInteger(reported) && reported > 0
      ? Math.min(reported, MODEL_USAGE_TOKENS_MAX)
      : Math.ceil(characters / 4)
  return {
    inputTokens: count(result.usage.inputTokens, length),
    outputTokens: count(result.usage.outputTokens, outputChars),
  }
}
