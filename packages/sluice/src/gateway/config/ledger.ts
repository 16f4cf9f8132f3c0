// How the record is kept, as sluice.yaml says under `ledger`: sync, what it keeps, for how long, how
// often it is signed and where else the checkpoints go. Called by config.ts.

import { sep } from 'node:path'
import { asMap } from '@sluice/policy/document/check-shape'
import { scalar } from '@sluice/policy/document/fields'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { parseDuration, type Shape } from '@sluice/policy/document/shape'
import { isSafeUrl } from '../../identity/oauth/safe-url.ts'
import type { RemoteStoreConfig } from '../../ledger/chain/remote-checkpoint-store.ts'
import { CHECKPOINT_EVERY_RECORDS } from '../../ledger/records/limits.ts'
import { KEEP_MS_MIN, KEEP_SECONDS_MAX, KEEP_SIZE_BYTES_MIN } from './limits.ts'
import type { ConfigValues } from './values.ts'

export interface LedgerConfig {
  readonly sync: 'normal' | 'full'
  /** `record: judged`: texts that expressions read are kept too. */
  readonly keepsTexts: boolean
  /** Older records are dropped. */
  readonly keepMs?: number
  /** The oldest records beyond so many bytes are dropped. */
  readonly keepBytes?: number
  /** Records between two checkpoints. */
  readonly every: number
  /** Where else checkpoints go. */
  readonly places: readonly RemoteStoreConfig[]
}

const text = (max: number): Shape => ({ kind: 'text', max })

const CHECKPOINTS: Shape = {
  kind: 'object',
  noun: 'settings of checkpoints',
  fields: {
    every: {
      shape: { kind: 'integer', min: 10, max: 1_000_000 },
      doc: 'records between two of them',
      default: CHECKPOINT_EVERY_RECORDS,
    },
    file: {
      shape: text(4_096),
      doc: 'a file outside of the data directory, best on another machine, to which they are appended',
      example: '/mnt/backup/checkpoints',
    },
    webhook: {
      shape: {
        kind: 'object',
        noun: 'a webhook of checkpoints',
        fields: {
          url: {
            shape: text(2_048),
            doc: 'each is posted there',
            required: true,
            example: 'https://hooks.example.com/checkpoints',
          },
          secret: {
            shape: text(1_024),
            doc: 'signs the messages, at least 16 characters; give it by a variable',
            required: true,
            example: `$\{WEBHOOK_SECRET}`,
          },
        },
      },
      doc: 'they are posted there too, signed as in Standard Webhooks',
    },
    s3: {
      shape: {
        kind: 'object',
        noun: 'a bucket',
        fields: {
          endpoint: {
            shape: text(2_048),
            doc: 'address of the service',
            required: true,
            example: 'https://s3.eu-central-1.amazonaws.com',
          },
          bucket: { shape: text(256), doc: 'its name', required: true, example: 'checkpoints' },
          prefix: { shape: text(512), doc: 'prefix of the object names', example: 'gate-1/' },
          region: { shape: text(64), doc: 'its region', default: 'us-east-1' },
          access_key: {
            shape: text(256),
            doc: 'access key, which only has to put objects; give it by a variable',
            required: true,
            example: `$\{S3_ACCESS_KEY}`,
          },
          secret_key: {
            shape: text(1_024),
            doc: 'secret of the access key; give it by a variable',
            required: true,
            example: `$\{S3_SECRET_KEY}`,
          },
        },
      },
      doc: 'one object each in a bucket that speaks S3',
    },
  },
}

export const LEDGER: Shape = {
  kind: 'object',
  noun: 'ledger settings',
  fields: {
    sync: {
      shape: { kind: 'word', words: ['normal', 'full'] },
      doc: '`full` also survives power loss, and is slower',
      default: 'normal',
    },
    record: {
      shape: { kind: 'word', words: ['plain', 'judged'] },
      doc: '`judged`: texts that rules read are recorded too, so that `replay` can evaluate them; numbers, booleans and enums always are',
      default: 'plain',
    },
    keep: {
      shape: { kind: 'duration', maxSeconds: KEEP_SECONDS_MAX },
      doc: 'older records are dropped; at least `1d`',
      unset: 'all are kept',
      example: '90d',
    },
    keep_size: {
      shape: text(32),
      doc: 'the oldest are dropped beyond this size; `MB`, `GB` or `TB`, at least `10MB`',
      unset: 'all are kept',
      example: '20GB',
    },
    checkpoints: { shape: CHECKPOINTS, doc: 'signed heads of the hash chain' },
  },
}

export function readLedger(map: LocatedMap, data: string, values: ConfigValues): LedgerConfig {
  const ledger = asMap(findEntry(map, 'ledger'))
  const checkpoints = asMap(findEntry(ledger, 'checkpoints'))
  const wrong = ({ at }: Pick<LocatedNode, 'at'>, message: string, help: string): void =>
    values.problems.error('CONFIG_LEDGER', at, message, help)
  return {
    sync: scalar(ledger, 'sync') === 'full' ? 'full' : 'normal',
    keepsTexts: scalar(ledger, 'record') === 'judged',
    ...readKeep(findEntry(ledger, 'keep'), wrong),
    ...readKeepSize(findEntry(ledger, 'keep_size'), wrong),
    every: Number(scalar(checkpoints, 'every') ?? CHECKPOINT_EVERY_RECORDS),
    places: [
      ...readFile(findEntry(checkpoints, 'file'), data, values, wrong),
      ...readWebhook(findEntry(checkpoints, 'webhook'), values, wrong),
      ...readBucket(findEntry(checkpoints, 's3'), values, wrong),
    ],
  }
}

type ReportConfigProblem = (node: Pick<LocatedNode, 'at'>, message: string, help: string) => void

function readKeep(node: LocatedNode | undefined, wrong: ReportConfigProblem): { keepMs?: number } {
  if (node?.kind !== 'scalar') return {}
  const keepMs = (parseDuration(node.value) ?? 0) * 1_000
  if (keepMs < KEEP_MS_MIN)
    wrong(node, `\`keep\` is \`${node.value}\``, 'keep a day at least: `keep: 1d`')
  return { keepMs }
}

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 }

function readKeepSize(
  node: LocatedNode | undefined,
  wrong: ReportConfigProblem,
): { keepBytes?: number } {
  if (node?.kind !== 'scalar') return {}
  const [, count = '0', unit = 'MB'] = /^(\d{1,6})\s?(MB|GB|TB)$/.exec(String(node.value)) ?? []
  const keepBytes = Number(count) * (UNITS[unit] as number)
  if (keepBytes < KEEP_SIZE_BYTES_MIN)
    wrong(
      node,
      `\`keep_size\` is \`${node.value}\``,
      'write `500MB`, `20GB` or `1TB`; 10MB at least',
    )
  return { keepBytes }
}

function readFile(
  node: LocatedNode | undefined,
  data: string,
  values: ConfigValues,
  wrong: ReportConfigProblem,
): RemoteStoreConfig[] {
  const file = values.path(node)
  if (node === undefined || file === undefined) return []
  if (file.startsWith(data + sep))
    wrong(
      node,
      `\`${file}\` is in the data directory`,
      'name a place that users with write access to the data directory cannot write',
    )
  return [{ kind: 'file', file }]
}

function readWebhook(
  node: LocatedNode | undefined,
  values: ConfigValues,
  wrong: ReportConfigProblem,
): RemoteStoreConfig[] {
  if (node === undefined) return []
  const url = safeUrl(findEntry(asMap(node), 'url') as LocatedNode, values, wrong)
  const secretNode = findEntry(asMap(node), 'secret') as LocatedNode
  const secret = values.text(secretNode)
  if (secret.length < 16)
    wrong(
      secretNode,
      'the secret of `webhook` is shorter than 16 characters',
      'make one with `openssl rand -hex 32`, and give it by a variable',
    )
  return [{ kind: 'webhook', url, secret }]
}

function readBucket(
  node: LocatedNode | undefined,
  values: ConfigValues,
  wrong: ReportConfigProblem,
): RemoteStoreConfig[] {
  if (node === undefined) return []
  const map = asMap(node)
  const readString = (name: string) => values.member(map, name)
  const bucket = readString('bucket') ?? ''
  if (!/^[\w.-]{1,255}$/.test(bucket))
    wrong(
      findEntry(map, 'bucket') ?? node,
      `\`${bucket}\` is not a valid bucket name`,
      'its name, without `/`',
    )
  return [
    {
      kind: 's3',
      endpoint: safeUrl(findEntry(map, 'endpoint') as LocatedNode, values, wrong),
      bucket,
      prefix: readString('prefix') ?? '',
      region: readString('region') ?? 'us-east-1',
      accessKey: readString('access_key') ?? '',
      secretKey: readString('secret_key') ?? '',
    },
  ]
}

function safeUrl(node: LocatedNode, values: ConfigValues, wrong: ReportConfigProblem): string {
  const url = values.text(node)
  // As it was written: what a variable holds may be a secret.
  if (!isSafeUrl(url))
    wrong(
      node,
      `\`${node.kind === 'scalar' ? node.value : ''}\` is not an https address`,
      'write `https://…`; http only on this machine',
    )
  return url
}
