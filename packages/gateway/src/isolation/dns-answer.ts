// DNS as a locked server sees it: one question in, one answer out. Reads a packet of the server, which may hold
// anything, in linear time and without exceptions. Pure.

/** A name as DNS limits it. */
const NAME_LENGTH_MAX = 253
const HEADER_BYTES = 12
const TYPE_A = 1
/** Seconds that the server may keep an answer. */
const TTL_SECONDS = 60

export interface DnsQuestion {
  /** The name in small letters, without the last dot. */
  readonly name: string
  /** The type of the record, by its number. */
  readonly type: number
  /** Where the question ends in the packet. */
  readonly end: number
}

/** Undefined if the packet is no single question. */
export function readQuestion(packet: Uint8Array): DnsQuestion | undefined {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  if (packet.length < HEADER_BYTES + 5 || (view.getUint16(2) & 0x8000) !== 0) return undefined
  if (view.getUint16(4) !== 1) return undefined
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = packet[at] ?? 64; length !== 0; length = packet[at] ?? 64) {
    if (length > 63 || at - HEADER_BYTES > NAME_LENGTH_MAX) return undefined
    const label = packet.subarray(at + 1, at + 1 + length)
    if (label.length < length) return undefined
    labels.push(String.fromCharCode(...label))
    at += 1 + length
  }
  if (at + 5 > packet.length) return undefined
  const name = labels.join('.').toLowerCase()
  if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)) return undefined
  return { name, type: view.getUint16(at + 1), end: at + 5 }
}

/** The answer to a question: this IPv4 address, no address of this type, or (undefined) no such name. */
export function writeAnswer(
  packet: Uint8Array,
  { type, end }: DnsQuestion,
  address: string | undefined,
): Uint8Array {
  const record = address === undefined || type !== TYPE_A ? [] : toRecord(address)
  const answer = new Uint8Array([...packet.subarray(0, end), ...record])
  const view = new DataView(answer.buffer)
  const noSuchName = address === undefined ? 3 : 0
  view.setUint16(2, 0x8180 | noSuchName)
  view.setUint16(6, record.length === 0 ? 0 : 1)
  view.setUint32(8, 0)
  return answer
}

/** The name is that of the question, at byte 12. */
function toRecord(address: string): number[] {
  const bytes = address.split('.').map(Number)
  return [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, TTL_SECONDS, 0, 4, ...bytes]
}
