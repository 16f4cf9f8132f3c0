// Shared by the agents' measurements: times of single calls, and their percentiles.

export interface Timing {
  readonly name: string
  readonly p50Us: number
  readonly p99Us: number
  readonly count: number
}

interface TimingOptions {
  /** Runs before each call, and is not counted. */
  readonly before?: ((at: number) => unknown) | undefined
  readonly warm?: number | undefined
}

export async function time(
  name: string,
  count: number,
  call: (at: number) => unknown,
  { before = () => undefined, warm = Math.min(50, Math.ceil(count / 5)) }: TimingOptions = {},
): Promise<Timing> {
  const times: number[] = []
  for (let at = -warm; at < count; at += 1) {
    await before(at + warm)
    const began = performance.now()
    await call(at + warm)
    if (at >= 0) times.push((performance.now() - began) * 1_000)
  }
  return summed(name, times)
}

export function summed(name: string, times: readonly number[]): Timing {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { name, p50Us: at(0.5), p99Us: at(0.99), count: sorted.length }
}

export function show({ name, p50Us, p99Us, count }: Timing): string {
  const us = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} µs`.padStart(12)
  return `${name.padEnd(52)} p50 ${us(p50Us)}  p99 ${us(p99Us)}  n ${count}`
}
