// How the record is kept, as sluice.yaml says under `ledger`: sync, what it keeps, for how long, how
// often it is signed and where else the checkpoints go. Called by config.ts.

import { resolve, sep } from 'node:path'
import type { RemoteStoreConfig } from '@sluice/ledger/chain/remote-checkpoint-store'
import { CHECKPOINT_EVERY_RECORDS } from '@sluice/ledger/records/limits'
import {
  duration,
  form,
  integer,
  object,
  required,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { fillDefaults, type ShapeValue } from '@sluice/policy/document/shape'
import { KEEP_MS_MIN, KEEP_SECONDS_MAX, KEEP_SIZE_BYTES_MIN } from './limits.ts'
import { type ConfigValues, readFields, safeUrlShape, secretShape, toMs } from './values.ts'

/** `ledger` of sluice.yaml. */
export interface LedgerConfig {
  /** `full` survives the loss of power, too. */
  readonly sync: 'normal' | 'full'
  /** The values that rules read are kept with their texts. */
  readonly keepsTexts: boolean
  /** Records older than this are dropped. Absent: none are, by their age. */
  readonly keepMs?: number
  /** The oldest records beyond so many bytes are dropped. Absent: none are, by their size. */
  readonly keepBytes?: number
  /** Records between two checkpoints. */
  readonly every: number
  /** Where the checkpoints go beside the data directory. */
  readonly places: readonly RemoteStoreConfig[]
}

const url = safeUrlShape('CONFIG_LEDGER')

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 }
const SIZE = /^(\d{1,6})\s?(MB|GB|TB)$/

const CHECKPOINTS = object('settings of checkpoints', {
  every: {
    shape: integer(10, 1_000_000),
    doc: 'records between two of them',
    default: CHECKPOINT_EVERY_RECORDS,
  },
  file: {
    shape: text(4_096),
    doc: 'a file outside of the data directory, best on another machine, to which they are appended',
    example: '/mnt/backup/checkpoints',
  },
  webhook: {
    shape: object('a webhook of checkpoints', {
      url: required(url, 'each is posted there', 'https://hooks.example.com/checkpoints'),
      secret: required(
        secretShape('CONFIG_LEDGER'),
        'signs the messages, at least 16 characters; give it by a variable',
        `$\{WEBHOOK_SECRET}`,
      ),
    }),
    doc: 'they are posted there too, signed as in Standard Webhooks',
  },
  s3: {
    shape: object('a bucket', {
      endpoint: required(url, 'address of the service', 'https://s3.eu-central-1.amazonaws.com'),
      bucket: required(
        form('bucket name', /^[\w.-]{1,255}$/, 'its name, without `/`', { code: 'CONFIG_LEDGER' }),
        'its name',
        'checkpoints',
      ),
      prefix: { shape: text(512), doc: 'prefix of the object names', example: 'gate-1/' },
      region: { shape: text(64), doc: 'its region', default: 'us-east-1' },
      access_key: required(
        text(256),
        'access key, which only has to put objects; give it by a variable',
        `$\{S3_ACCESS_KEY}`,
      ),
      secret_key: required(
        text(1_024),
        'secret of the access key; give it by a variable',
        `$\{S3_SECRET_KEY}`,
      ),
    }),
    doc: 'one object each in a bucket that speaks S3',
  },
})

export const LEDGER = object('ledger settings', {
  sync: {
    shape: word(['normal', 'full']),
    doc: '`full` also survives power loss, and is slower',
    default: 'normal',
  },
  record: {
    shape: word(['plain', 'judged']),
    doc: '`judged`: texts that rules read are recorded too, so that `replay` can evaluate them; numbers, booleans and enums always are',
    default: 'plain',
  },
  keep: {
    shape: duration(KEEP_SECONDS_MAX),
    doc: 'older records are dropped; at least `1d`',
    unset: 'all are kept',
    example: '90d',
  },
  keep_size: {
    shape: form('size', SIZE, 'write `500MB`, `20GB` or `1TB`; 10MB at least', {
      check: (size) => toBytes(size) >= KEEP_SIZE_BYTES_MIN,
      code: 'CONFIG_LEDGER',
    }),
    doc: 'the oldest are dropped beyond this size; `MB`, `GB` or `TB`, at least `10MB`',
    unset: 'all are kept',
    example: '20GB',
  },
  checkpoints: { shape: CHECKPOINTS, doc: 'signed heads of the hash chain' },
})

export function readLedger(map: LocatedMap, data: string, values: ConfigValues): LedgerConfig {
  const node = findEntry(map, 'ledger')
  const { sync, record, keep, keep_size, checkpoints } = readFields(LEDGER.fields, node)
  const { every, file, webhook, s3 } = fillDefaults(CHECKPOINTS.fields, checkpoints ?? {})
  const wrong = (at: LocatedNode | undefined, message: string, help: string): void =>
    values.problems.error('CONFIG_LEDGER', at?.at ?? 0, message, help)
  if (keep !== undefined && toMs(keep) < KEEP_MS_MIN)
    wrong(
      findEntry(asMap(node), 'keep'),
      `\`keep\` is \`${keep}\``,
      'keep a day at least: `keep: 1d`',
    )
  const copy = file === undefined ? undefined : resolve(values.folder, file)
  if (copy?.startsWith(data + sep))
    wrong(
      findEntry(asMap(findEntry(asMap(node), 'checkpoints')), 'file'),
      `\`${copy}\` is in the data directory`,
      'name a place that users with write access to the data directory cannot write',
    )
  const places: RemoteStoreConfig[] = [
    ...(copy === undefined ? [] : [{ kind: 'file' as const, file: copy }]),
    ...(webhook === undefined ? [] : [{ kind: 'webhook' as const, ...webhook }]),
    ...(s3 === undefined ? [] : [toBucket(s3)]),
  ]
  return {
    sync,
    keepsTexts: record === 'judged',
    ...(keep === undefined ? {} : { keepMs: toMs(keep) }),
    ...(keep_size === undefined ? {} : { keepBytes: toBytes(keep_size) }),
    every,
    places,
  }
}

function toBytes(size: string): number {
  const [, count = '0', unit = 'MB'] = SIZE.exec(size) ?? []
  return Number(count) * (UNITS[unit] as number)
}

function toBucket(s3: ShapeValue<typeof CHECKPOINTS.fields.s3.shape>): RemoteStoreConfig {
  const { access_key: accessKey, secret_key: secretKey, prefix = '', ...rest } = s3
  return { kind: 's3', region: 'us-east-1', ...rest, prefix, accessKey, secretKey }
}
