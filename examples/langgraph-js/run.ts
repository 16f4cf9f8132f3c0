// A graph of LangGraph behind a gate, with a scripted model: one call is made, one denied, one waits for a person.

import { deepStrictEqual, match } from 'node:assert'
import { MemorySaver } from '@langchain/langgraph'
import { AcsClient } from '../support/acs-client.ts'
import { Approver } from '../support/approver.ts'
import { withGate } from '../support/gate.ts'
import { SCRIPT, SHOP_GATE, SHOP_KEY, SHOP_POLICY, Shop } from '../support/refund-shop.ts'
import { startModel } from '../support/start-model.ts'
import { runShopGraph } from './shop-graph.ts'

const approver = new Approver()
const { grants, servers } = SHOP_GATE
const model = await startModel(SCRIPT)
const setup = { policy: SHOP_POLICY, servers, config: { grants }, prepare: approver.add }
await withGate(setup, async (gate) => {
  const acs = new AcsClient({ url: `${gate.url}/acs`, agent: 'shop', key: SHOP_KEY })
  await acs.start()
  const shop = new Shop()
  const options = { acs, modelUrl: model.url, shop, checkpointer: new MemorySaver() }

  const interrupted = await runShopGraph(options)
  deepStrictEqual(interrupted.saved, 'checkpointed')
  // Resumed without an approval of the gate: it waits on.
  deepStrictEqual((await runShopGraph(options, 'checkpointed')).saved, 'checkpointed')
  deepStrictEqual(shop.made, [])

  await approver.approvePending(gate.url)
  const ended = await runShopGraph(options, 'checkpointed')
  deepStrictEqual(shop.made, ['get_order {"order":7}', 'refund {"order":7,"amount":40}'])
  match(ended.answers.join('\n'), /get_order done.*nobody deletes all orders.*refund done/s)
  deepStrictEqual(ended.text, 'Refunded.')
  await acs.end()
}).finally(model.stop)
