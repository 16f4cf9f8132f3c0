// `npm run eval -- acs`: agents of OpenAI Agents and LangGraph, with their own runners and a scripted model, behind a
// real gate by the Agent Control Standard: what is made of an allowed, a denied and a held call, over a killed gate. Then
// requests that a gate has to refuse, and a replay at another gate of the same store.

import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemorySaver } from '@langchain/langgraph'
import { setTracingDisabled } from '@openai/agents-core'
import { runShopAgent } from '../../examples/agents-js/shop-agent.ts'
import { runShopGraph } from '../../examples/langgraph-js/shop-graph.ts'
import { AcsClient } from '../../examples/support/acs-client.ts'
import { Approver } from '../../examples/support/approver.ts'
import {
  SCRIPT,
  SHOP_GATE,
  SHOP_KEY,
  SHOP_POLICY,
  Shop,
  type ShopRun,
} from '../../examples/support/refund-shop.ts'
import { startModel } from '../../examples/support/start-model.ts'
import {
  type AcsSent,
  listBadAcsRequests,
  ORDER,
  sendAcs,
  writeAcsRequest,
} from '../../test/support/acs-request.ts'
import { CLUSTER_KEY, findPostgres, startPostgres } from '../../test/support/postgres.ts'
import { endGates, type RunningGate, startGate } from '../../test/support/start-gate.ts'

interface RunParts {
  readonly acs: AcsClient
  readonly modelUrl: string
  readonly shop: Shop
}

/** Starts a run, or goes on with a saved one. */
type RunFramework = (parts: RunParts, saved: string | undefined) => Promise<ShopRun<string>>

/** Made for one case: LangGraph keeps its runs in a checkpointer. */
const FRAMEWORKS: Readonly<Record<string, () => RunFramework>> = {
  'OpenAI Agents': () => (parts, saved) => runShopAgent(parts, saved),
  LangGraph: () => {
    const checkpointer = new MemorySaver()
    return (parts, saved) =>
      runShopGraph({ ...parts, checkpointer }, saved === undefined ? undefined : 'checkpointed')
  },
}

class Report {
  wrong = 0

  say(what: string, isRight: boolean, seen = ''): void {
    if (!isRight) this.wrong++
    console.log(`${isRight ? 'right' : 'WRONG'}  ${what}${isRight ? '' : `  ${seen}`}`)
  }
}

export async function run(): Promise<number> {
  setTracingDisabled(true)
  const report = new Report()
  const model = await startModel(SCRIPT)
  try {
    for (const [name, create] of Object.entries(FRAMEWORKS))
      await runStory(name, create(), { report, modelUrl: model.url })
    await refuseBadRequests(report)
    await replayElsewhere(report)
  } finally {
    model.stop()
    await endGates()
  }
  console.log(report.wrong === 0 ? 'all as they should be' : `${report.wrong} wrong`)
  return report.wrong === 0 ? 0 : 1
}

function startShop(folder: string, more: object = {}): Promise<RunningGate> {
  const { grants, servers } = SHOP_GATE
  return startGate({ folder, servers, policy: SHOP_POLICY, config: { grants, ...more } })
}

const scratch = (): string => mkdtempSync(join(tmpdir(), 'sluice-acs-'))

async function runStory(
  name: string,
  runFramework: RunFramework,
  { report, modelUrl }: { readonly report: Report; readonly modelUrl: string },
): Promise<void> {
  const folder = scratch()
  const approver = new Approver()
  await approver.add(join(folder, 'data'))
  const first = await startShop(folder)
  const shop = new Shop()
  const open = async (gate: RunningGate, session?: string): Promise<RunParts> => {
    const known = { url: `${gate.url}/acs`, agent: 'shop', key: SHOP_KEY }
    const acs = new AcsClient(session === undefined ? known : { ...known, session })
    await acs.start()
    return { acs, modelUrl, shop }
  }
  const refunds = () => shop.made.filter((made) => made.startsWith('refund'))
  const parts = await open(first)
  const held = await runFramework(parts, undefined)
  report.say(
    `${name}: a held call interrupts the run`,
    held.saved !== undefined && refunds().length === 0,
    JSON.stringify(held),
  )
  await first.kill()
  const gate = await startShop(folder)
  const again = await open(gate, parts.acs.session)
  await runFramework(again, held.saved)
  report.say(`${name}: gate killed and started: not made`, refunds().length === 0)
  await approver.approvePending(gate.url)
  const ended = await runFramework(again, held.saved)
  report.say(`${name}: approved: made`, refunds().length === 1, ended.answers.join())
  report.say(
    `${name}: allowed: made once`,
    shop.made.filter((made) => made.startsWith('get_order')).length === 1,
    shop.made.join(),
  )
  report.say(
    `${name}: denied: not made, and the model reads why`,
    !shop.made.join().includes('delete_all') && ended.answers.join().includes('nobody deletes all'),
    ended.answers.join(),
  )
  const later = await again.acs.ask({ id: 'later', tool: 'refund', args: { order: 7, amount: 40 } })
  report.say(`${name}: the approval was for one call`, later.is !== 'allowed', later.is)
  await again.acs.end()
}

async function refuseBadRequests(report: Report): Promise<void> {
  const gate = await startShop(scratch())
  const send = (sent: AcsSent) =>
    sendAcs(gate.url, writeAcsRequest('steps/toolCallRequest', ORDER, { key: SHOP_KEY, ...sent }))
  const good = await send({})
  report.say('a request that is right is allowed', good.decision === 'allow', JSON.stringify(good))
  for (const { name, sent, code, why } of listBadAcsRequests(Date.now())) {
    const answer = await send(sent)
    const isRight = answer.code === code && String(answer.message).includes(why)
    report.say(`refused (${code}): ${name}`, isRight, JSON.stringify(answer))
  }
}

async function replayElsewhere(report: Report): Promise<void> {
  const postgres = findPostgres()
  if (postgres === undefined) return console.log('not run: a replay at another gate, no PostgreSQL')
  const server = await startPostgres(postgres)
  try {
    await server.createDatabase('acs')
    const start = (name: string) =>
      startShop(scratch(), { store: server.url('acs'), cluster: { name, key: CLUSTER_KEY } })
    const [one, other] = [await start('a'), await start('b')]
    const sent = { key: SHOP_KEY, session: randomUUID(), requestId: randomUUID() }
    const body = writeAcsRequest('steps/toolCallRequest', ORDER, sent)
    const first = await sendAcs(one.url, body)
    const replay = await sendAcs(other.url, body)
    report.say(
      'refused (-32005): a replay at another gate of the store',
      first.decision === 'allow' && replay.code === -32005,
      JSON.stringify([first, replay]),
    )
    await endGates()
  } finally {
    await server.end()
  }
}
