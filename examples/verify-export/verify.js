// Verifies an export: node verify.js EXPORT.jsonl CHECKPOINTS.jsonl PUBLIC-KEY. Written from
// docs/reference/ledger-records.md alone; prints what is wrong, and exits with 1 if anything is.

import { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [exportFile, checkpointFile, key] = process.argv.slice(2)
const readLines = (file) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const KINDS = ['', 'intent', 'refusal', 'outcome', 'event']
const wrong = []
const hashes = new Map([[0, '00'.repeat(32)]])
const names = new Map()
/** A token is read as the name that opens it; a foreign text has its start twice. */
const show = (text) =>
  text.replace(/person:(:|[\w-]{22})/g, (all, end) =>
    end === ':' ? 'person:' : (names.get(all) ?? all),
  )

for (const line of readLines(exportFile)) {
  if (line.kind === 'name') {
    const digest = createHmac('sha256', Buffer.from(line.salt, 'base64url'))
      .update(line.name)
      .digest()
    if (line.token !== `person:${digest.toString('base64url', 0, 16)}`)
      wrong.push(`${line.token} is another name's`)
    else names.set(line.token, JSON.stringify(line.name).slice(1, -1))
    continue
  }
  const { seq, hash, encoded } = line
  const before = hashes.get(seq - 1)
  if (before === undefined) wrong.push(`the record before ${seq} is missing`)
  const text = Buffer.from(encoded)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  const found = createHash('sha256')
    .update(before ?? '', 'hex')
    .update(length)
    .update(text)
    .digest('hex')
  if (before !== undefined && found !== hash) wrong.push(`record ${seq} was edited, or its hash`)
  hashes.set(seq, hash)
  const at = JSON.parse(show(encoded))
  const readable = [seq, line.kind, line.atMs]
  const hashed = [at[1], KINDS[at[2]], at[3]]
  if (at[2] <= 2) {
    readable.push(
      line.callId,
      line.principal.id,
      line.session,
      line.server,
      line.name,
      line.decision.code,
      line.argsDigest,
    )
    hashed.push(at[6], at[7], at[10], at[11], at[13], at[17], at[22])
  } else if (at[2] === 3) readable.push(line.intent, line.status) && hashed.push(at[4], at[5])
  if (JSON.stringify(readable) !== JSON.stringify(hashed))
    wrong.push(`record ${seq} does not say what was hashed`)
}

const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
for (const { version, seq, time, head, root, signature, ...rest } of readLines(checkpointFile)) {
  const from = version === 2 ? `from ${rest.from}\n` : ''
  const statement = `sluice checkpoint ${version}\nseq ${seq}\n${from}time ${time}\nhead ${head}\nroot ${root}\nkey ${rest.key}\n`
  const isSigned =
    rest.key === key &&
    verify(null, Buffer.from(statement), publicKey, Buffer.from(signature, 'base64url'))
  if (!isSigned) wrong.push(`the checkpoint of record ${seq} is not signed with ${key}`)
  if (hashes.has(seq) && hashes.get(seq) !== head)
    wrong.push(`record ${seq} is not the one that was signed`)
}

for (const problem of wrong) console.log(problem)
console.log(wrong.length === 0 ? `ok: ${hashes.size - 1} records` : `${wrong.length} problems`)
process.exit(wrong.length === 0 ? 0 : 1)
