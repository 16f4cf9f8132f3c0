// Tools and a prompt of the fixture that need input, as the stateless generation does: they answer
// `input_required`, and are called again with what the client found out.

import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { answer, text } from './content.ts'
import { state } from './request-state.ts'

const ASK_NAME = form('What is your name?', 'name', 'string')
const ASK_CONFIRM = form('Please confirm', 'ok', 'boolean')
const ASK_ROOTS = inputRequired.listRoots()

export function addInputTools(server: McpServer): void {
  type Run = (ctx: ServerContext) => Promise<ReturnType<typeof inputRequired | typeof answer>>
  const add = (name: string, does: string, run: Run): void =>
    void server.registerTool(name, { description: does }, run)
  const need = (name: string, requests: Record<string, InputRequest>, signed = false): void =>
    add(name, `needs ${Object.keys(requests)}`, async (ctx) => {
      const keys = Object.keys(requests)
      if (keys.every((key) => given(ctx, key) !== undefined)) {
        if (signed && ctx.mcpReq.requestState() === undefined) throw new Error('the state is lost')
        return answer(`state-ok ${keys.map((key) => given(ctx, key))}`)
      }
      const carried = signed ? { requestState: await state.mint({ round: 1 }) } : {}
      return inputRequired({ inputRequests: requests, ...carried })
    })
  const capital = model('What is the capital of France?', 100)
  need('test_input_required_result_elicitation', { user_name: ASK_NAME })
  need('test_input_required_result_sampling', { capital_question: capital })
  need('test_input_required_result_list_roots', { client_roots: ASK_ROOTS })
  need('test_input_required_result_request_state', { confirm: ASK_CONFIRM }, true)
  need('test_input_required_result_tampered_state', { confirm: ASK_CONFIRM }, true)
  need(
    'test_input_required_result_multiple_inputs',
    { user_name: ASK_NAME, greeting: model('Generate a greeting', 50), client_roots: ASK_ROOTS },
    true,
  )
  need('test_missing_capability', { question: capital })
  need('test_streaming_elicitation', { user_name: ASK_NAME })
  add('test_input_required_result_multi_round', 'needs two things in turn', twoRounds)
  add('test_input_required_result_capabilities', 'asks what the client can', askWhatCan)
}

export function addInputPrompt(server: McpServer): void {
  const ask = form('What context should the prompt use?', 'context', 'string')
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'needs a context' },
    (ctx) => {
      const found = given(ctx, 'user_context')
      if (found === undefined) return inputRequired({ inputRequests: { user_context: ask } })
      return { messages: [{ role: 'user', content: text(`Context: ${found}`) }] }
    },
  )
}

async function twoRounds(
  ctx: ServerContext,
): Promise<ReturnType<typeof inputRequired | typeof answer>> {
  const { round } = ctx.mcpReq.requestState<{ round: number }>() ?? { round: 0 }
  const done = round > 0 && given(ctx, `step${round}`) !== undefined ? round : round - 1
  if (done >= 2) return answer('both rounds are done')
  const step =
    done < 1
      ? { step1: form('Step 1: What is your name?', 'name', 'string') }
      : { step2: form('Step 2: What is your favorite color?', 'color', 'string') }
  const requestState = await state.mint({ round: done < 1 ? 1 : 2 })
  return inputRequired({ inputRequests: step, requestState })
}

async function askWhatCan({ mcpReq }: ServerContext): Promise<ReturnType<typeof inputRequired>> {
  const envelope: Record<string, unknown> = mcpReq.envelope ?? {}
  const can = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities
  const inputRequests: Record<string, InputRequest> = {}
  if (can.sampling) inputRequests.greeting = model('Generate a greeting', 50)
  if (can.elicitation) inputRequests.user_name = ASK_NAME
  return inputRequired({ inputRequests })
}

/** The client's answer for a key, in whatever kind it came; undefined where it did not. */
function given({ mcpReq }: ServerContext, key: string): string | undefined {
  const accepted = acceptedContent(mcpReq.inputResponses, key)
  if (accepted !== undefined) return JSON.stringify(accepted)
  const view = inputResponse(mcpReq.inputResponses, key)
  return view.kind === 'roots' || view.kind === 'sampling' ? JSON.stringify(view) : undefined
}

function form(message: string, name: string, type: 'string' | 'boolean'): InputRequest {
  const requestedSchema = { type: 'object', properties: { [name]: { type } }, required: [name] }
  return inputRequired.elicit({ message, requestedSchema } as Parameters<
    typeof inputRequired.elicit
  >[0])
}

function model(question: string, maxTokens: number): InputRequest {
  const messages = [{ role: 'user' as const, content: text(question) }]
  return inputRequired.createMessage({ messages, maxTokens })
}
