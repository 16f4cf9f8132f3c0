// `alerts` of sluice.yaml: which alerts a person on duty gets, and over which of the channels that approvals
// have. The console shows them in any case. Called by config.ts.

import { ALERT_KINDS } from '@sluice/access/approvals/alert'
import { duration, integer, list, object, word } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { ChannelsConfig } from './channels.ts'
import {
  ALERT_DENIALS_PERCENT,
  ALERT_EVERY_SECONDS_MAX,
  ALERT_LIMIT_PERCENT,
  ALERT_VERIFY_SECONDS_MAX,
} from './limits.ts'
import { type ConfigValues, readFields, toMs } from './values.ts'

export const ALERT_CHANNELS = ['webhook', 'email'] as const

export interface AlertsConfig {
  /** The kinds of alerts that are raised. */
  readonly on: readonly string[]
  /** Where they are sent; the console needs none. */
  readonly channels: readonly AlertChannelName[]
  /** At most one alert of a kind is sent in this time. */
  readonly everyMs: number
  readonly denialsPercent: number
  readonly limitPercent: number
  /** How often the chain of the ledger is verified. */
  readonly verifyMs: number
}

type AlertChannelName = (typeof ALERT_CHANNELS)[number]

const percent = integer(1, 100)

export const ALERTS = object('settings of alerts', {
  on: {
    shape: list(word(ALERT_KINDS), ALERT_KINDS.length),
    doc: 'which kinds are sent: docs/how-to/operations.md says when each is. With `injection` the gate looks through all answers',
    unset: 'all of them; without `alerts` all but `injection`',
    example: ['injection', 'definition', 'ledger'],
  },
  channels: {
    shape: list(word(ALERT_CHANNELS), ALERT_CHANNELS.length),
    doc: 'which channels of `approvals` alerts go out on; the console shows them in any case',
    unset: 'all that `approvals` has; without `alerts` none',
    example: ['email'],
  },
  every: {
    shape: duration(ALERT_EVERY_SECONDS_MAX),
    doc: 'at most one alert of a kind is sent in this time',
    default: '15m',
  },
  denials: {
    shape: percent,
    doc: 'percent of the calls of five minutes that have to be denied, of at least 20',
    default: ALERT_DENIALS_PERCENT,
  },
  limit: {
    shape: percent,
    doc: 'percent of a limit that have to be used',
    default: ALERT_LIMIT_PERCENT,
  },
  verify: {
    shape: duration(ALERT_VERIFY_SECONDS_MAX),
    doc: 'how often the gate verifies the whole chain of the ledger, for alerts of `ledger`',
    default: '24h',
  },
})

/** What costs each call is watched only if it is asked for. */
const ON_BY_ITSELF = ALERT_KINDS.filter((kind) => kind !== 'injection')

/** Without the key the console alone has alerts: nobody is sent a message that was not asked for. */
export function readAlerts(
  map: LocatedMap,
  channels: ChannelsConfig,
  { problems }: ConfigValues,
): AlertsConfig {
  const node = findEntry(map, 'alerts')
  const isSet = node !== undefined
  const has = ALERT_CHANNELS.filter((name) => channels[name] !== undefined)
  const read = readFields(ALERTS.fields, node)
  const { channels: wanted = isSet ? has : [] } = read
  const missing = wanted.find((name) => !has.includes(name))
  if (isSet && missing !== undefined)
    problems.error(
      'CONFIG_CHANNEL',
      (findEntry(asMap(node), 'channels') ?? node).at,
      `alerts are to go out by \`${missing}\`, and \`approvals\` has no \`${missing}\``,
      'write `webhook` or `email` under `approvals`',
    )
  return {
    on: read.on ?? (isSet ? ALERT_KINDS : ON_BY_ITSELF),
    channels: ALERT_CHANNELS.filter((name) => wanted.includes(name)),
    everyMs: toMs(read.every),
    denialsPercent: read.denials,
    limitPercent: read.limit,
    verifyMs: toMs(read.verify),
  }
}
