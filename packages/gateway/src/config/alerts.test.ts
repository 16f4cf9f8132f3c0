// `alerts` of sluice.yaml. M17: the console is a channel, so a gate watches without the key.

import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

function readAlerts(keys: string) {
  const text = `version: 1\nservers: { a: { command: [x] } }\n${keys}`
  const { config, problems } = readConfig({ file: '/a/sluice.yaml', text }, {})
  return { alerts: config?.alerts, codes: problems.map(({ code }) => code) }
}
const WEBHOOK = 'approvals: { webhook: { url: "https://e.com", secret: long-enough-to-sign } }\n'

test('M17: without the key everything but answers is watched, and no message is sent', () => {
  const { alerts } = readAlerts(WEBHOOK)
  expect(alerts).toMatchObject({ channels: [], everyMs: 900_000 })
  expect(alerts?.on).not.toContain('injection')
  expect(alerts?.on).toEqual(expect.arrayContaining(['denials', 'server', 'definition', 'ledger']))
})

test('M17: the key needs no channel; with it answers are watched and messages sent', () => {
  expect(readAlerts('alerts: {}')).toMatchObject({ alerts: { channels: [] }, codes: [] })
  const { alerts } = readAlerts(`${WEBHOOK}alerts: {}`)
  expect(alerts).toMatchObject({ channels: ['webhook'] })
  expect(alerts?.on).toContain('injection')
  expect(readAlerts('alerts: { channels: [email] }').codes).toEqual(['CONFIG_CHANNEL'])
})
