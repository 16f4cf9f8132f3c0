// Imports the same export again and again until it is killed: arguments are the data directory and the
// file. Says the id of each agent once it is there, a line each.

import { readFileSync } from 'node:fs'
import { Service } from '../../packages/agents/src/service/service.ts'

const [, , directory = '', file = ''] = process.argv
const models = { environment: {}, providers: {}, scripts: '/nonexistent', prices: {} }
const service = await Service.start({ directory, models })
const text = readFileSync(file, 'utf8')
for (;;) {
  const { agent } = await service.import('me', text)
  process.stdout.write(`${agent.id}\n`)
}
