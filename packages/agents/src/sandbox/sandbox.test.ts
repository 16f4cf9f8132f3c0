import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { bakeImage } from './bake-image.ts'
import { type Image, openImage } from './image.ts'
import { Instance } from './instance.ts'
import { GUEST_MEMORY_PAGES_MAX, PAGE_BYTES, THREAD_FAILURES_MAX } from './limits.ts'
import { bundleGuest, loadImage } from './load-image.ts'
import { InstancePool } from './pool.ts'
import { Thread } from './thread.ts'
import { readSections } from './wasm-binary.ts'

/** A guest that does what it is told: the sandbox enforces its limits without the core's help. */
const CORE = `
  let kept = [];
  globalThis.__guest = (operation, text, bytes) => {
    if (operation === 'eval') return String((0, eval)(text));
    if (operation === 'keep') { kept.push(text); return String(kept.length); }
    if (operation === 'echo') return [text, bytes];
    if (operation === 'pair') return ['text', text];
    return undefined;
  };`

/** Only the count ends these, however slow the machine is. */
const LIMITS = { polls: 2_000, timeoutMs: 20_000 }
const image: Image = openImage(bakeImage(CORE))

function run(instance: Instance, operation: string, text: string, bytes?: Uint8Array) {
  return instance.call({ operation, text, bytes, nowMs: 1_234 }, LIMITS)
}

describe('an image', () => {
  test('is baked to the same bytes twice', async () => {
    const core = await bundleGuest(join(import.meta.dirname, '../guest/main.ts'))
    expect(await bundleGuest(join(import.meta.dirname, '../guest/main.ts'))).toBe(core)
    const [one, two] = [bakeImage(core), bakeImage(core)]
    expect(Buffer.compare(one, two)).toBe(0)
    expect(Buffer.compare(await loadImage('main'), one)).toBe(0)
  })

  test('has a hard maximum, no start, and only the exports that are needed', () => {
    const sections = readSections(image.bytes)
    expect(sections.find(({ id }) => id === 5)?.body.slice(0, 2)).toEqual(Uint8Array.of(1, 1))
    expect(sections.some(({ id }) => id === 8)).toBe(false)
    const { module } = image as unknown as { module: object }
    const { Module } = (globalThis as unknown as { WebAssembly: { Module: ModuleApi } }).WebAssembly
    expect(Module.exports(module)).toHaveLength(19)
    expect(Module.imports(module).filter(({ name }) => /host_call/.test(name))).toHaveLength(1)
  })

  test('that is damaged in any byte is refused', () => {
    const property = fc.property(
      fc.nat(image.bytes.length - 1),
      fc.integer({ min: 1, max: 255 }),
      (at, by) => {
        const bytes = image.bytes.slice()
        bytes[at] = (bytes[at] as number) ^ by
        try {
          expect(openImage(bytes).hash).not.toBe(image.hash)
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      },
    )
    fc.assert(property, runs(20))
  })
})

interface ModuleApi {
  exports(module: object): { name: string }[]
  imports(module: object): { name: string }[]
}

describe('a guest', () => {
  test('takes text and bytes and returns both', () => {
    const guest = new Instance(image)
    expect(run(guest, 'echo', 'a\0é😀', Uint8Array.of(0, 255, 7))).toMatchObject({
      text: 'a\0é😀',
      bytes: Uint8Array.of(0, 255, 7),
    })
    expect(Buffer.from(run(guest, 'pair', 'é\0').bytes ?? []).toString()).toBe('é\0')
  })

  test('sees the clock it is given and constant randomness', () => {
    expect(run(new Instance(image), 'eval', 'Date.now()').text).toBe('1234')
    const two = [1, 2].map(() => run(new Instance(image), 'eval', 'Math.random()').text)
    expect(two[0]).toBe(two[1])
  })

  test('has no access to the host', () => {
    const names =
      'process,require,module,fetch,WebAssembly,Buffer,setTimeout,navigator,Deno,std,os,bjson,scriptArgs,console,XMLHttpRequest,Worker'
    const code = `${JSON.stringify(names.split(','))}.filter((name) => typeof globalThis[name] !== 'undefined').join()`
    expect(run(new Instance(image), 'eval', code).text).toBe('')
  })

  test.each(['import("qjs:os")', 'import("std")', 'import("file:///etc/passwd")'])(
    '%s brings nothing',
    (code) => {
      const guest = new Instance(image)
      run(guest, 'eval', `${code}.then(() => { globalThis.got = 1 }, () => { globalThis.got = 0 })`)
      expect(run(guest, 'eval', 'got').text).toBe('0')
    },
  )

  test('that answers with no text is an error, and dead after it', () => {
    const guest = new Instance(image)
    expect(() => run(guest, 'nothing', '')).toThrow(/answer cannot be read/)
    expect(guest.isDead).toBe(true)
    expect(() => run(guest, 'eval', '1')).toThrow(/dead/)
  })

  test('soft limit: stops at the same count every time', () => {
    // Only the count may end these, however slow the machine is.
    const patient = { polls: 200, timeoutMs: 20_000 }
    const evaluate = (text: string) =>
      new Instance(image).call({ operation: 'eval', text, nowMs: 0 }, patient)
    const used = [1, 2].map(() => evaluate('for (let i = 0; i < 1e6; i++); 1').polls)
    expect(used[0]).toBe(used[1])
    expect(used[0]).toBeGreaterThan(50)
    expect(() => evaluate('for (;;);')).toThrow(/steps/)
  })

  test('hard limit: stops at a poll after its time; natives that never poll are the watchdog’s', () => {
    const guest = new Instance(image)
    const call = { operation: 'eval', text: 'for (;;);', nowMs: 0 }
    const patient = { polls: Number.MAX_SAFE_INTEGER, timeoutMs: 100 }
    expect(() => guest.call(call, patient)).toThrow(/after 100 ms/)
    expect(guest.isDead).toBe(true)
  })

  test('the time of a call is its thread’s processor time, not what passes meanwhile', () => {
    const call = { operation: 'eval', text: 'for (let i = 0; i < 1e6; i++); 1', nowMs: 0 }
    const limits = { polls: Number.MAX_SAFE_INTEGER, timeoutMs: 1 }
    const running = { ms: 0 }
    const idle = new Instance(image, () => 0)
    expect(idle.call(call, limits).polls).toBeGreaterThan(50)
    // One millisecond a poll.
    const busy = new Instance(image, () => running.ms++)
    expect(() => busy.call(call, { ...limits, timeoutMs: 20 })).toThrow(/20 ms of processor time/)
    expect(running.ms).toBeLessThan(30)
  })

  test('memory ends at the maximum of the module', () => {
    const guest = new Instance(image)
    expect(() => run(guest, 'eval', 'let k = []; for (;;) k.push(new Uint8Array(65536))')).toThrow()
    expect(guest.memoryBytes).toBeLessThanOrEqual(GUEST_MEMORY_PAGES_MAX * PAGE_BYTES)
  })
})

describe('snapshots', () => {
  test('are restored byte for byte, and continue the same', () => {
    const one = new Instance(image)
    for (let n = 0; n < 50; n += 1) run(one, 'keep', 'x'.repeat(n * 97))
    const two = new Instance(image)
    two.load(one.save())
    expect(two.save().equals(one.save())).toBe(true)
    for (const guest of [one, two]) expect(run(guest, 'keep', 'more').text).toBe('51')
    expect(two.save().equals(one.save())).toBe(true)
  })

  test('an instance is clean for the next guest', () => {
    const pool = new InstancePool(image)
    const first = pool.take()
    run(first, 'eval', 'globalThis.secret = 42; Array.prototype.map = null')
    pool.give(first)
    const second = pool.take()
    expect(second).toBe(first)
    expect(run(second, 'eval', 'typeof secret + typeof [].map').text).toBe('undefinedfunction')
  })

  test('an instance that grew or died is not reused', () => {
    const pool = new InstancePool(image)
    const grown = pool.take()
    run(grown, 'eval', 'globalThis.big = new Uint8Array(4e6); 1')
    pool.give(grown)
    const dead = pool.take()
    expect(dead).not.toBe(grown)
    expect(() => run(dead, 'nothing', '')).toThrow()
    pool.give(dead)
    expect(pool.take()).not.toBe(dead)
  })

  test('an instance that grew is used for a guest of its size, and nothing is left in it', () => {
    const pool = new InstancePool(image)
    const grown = pool.take()
    run(grown, 'eval', 'globalThis.big = new Uint8Array(1e6).fill(7); 1')
    const delta = grown.save()
    run(grown, 'eval', 'big.fill(9); globalThis.secret = new Uint8Array(5e5).fill(8); big = 0; 1')
    const larger = grown.save()
    pool.give(grown)
    // Memory does not shrink: it is too large for a smaller guest.
    expect(pool.take(delta)).not.toBe(grown)
    expect(pool.take()).not.toBe(grown)
    const same = pool.take(larger)
    expect(same).toBe(grown)
    expect(same.save().equals(larger)).toBe(true)
    expect(run(same, 'eval', 'String(big)').text).toBe('0')
  })

  test('corrupt deltas: refused, or contained', () => {
    const guest = new Instance(image)
    run(guest, 'keep', 'something')
    const delta = guest.save()
    const digest = createHash('sha256').update(image.base).digest('hex')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(delta.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 }),
        (changes) => {
          const bad = Buffer.from(delta)
          for (const [at, value] of changes) bad[at] = value
          try {
            const other = new Instance(image)
            other.load(bad)
            run(other, 'keep', 'x')
          } catch (error) {
            expect(error).toBeInstanceOf(Error)
          }
        },
      ),
      runs(60),
    )
    expect(createHash('sha256').update(image.base).digest('hex')).toBe(digest)
    expect(run(new Instance(image), 'keep', 'fine').text).toBe('1')
  })
})

describe('a thread', () => {
  const toError = ({ message }: { message: string }) => new Error(message)
  const script = (body: string): string => {
    const file = join(scratchDirectory(), 'thread.mjs')
    const port = JSON.stringify(join(import.meta.dirname, 'thread-port.ts'))
    writeFileSync(
      file,
      `import { serveThread } from ${port}\nimport { workerData } from 'node:worker_threads'\n${body}`,
    )
    return file
  }

  test('that hangs is replaced: the hanging request fails, the others are answered', async () => {
    const thread = new Thread(
      script(`serveThread((body) => {
        if (body === 'hang') { workerData.watch[0] = process.hrtime()[0] * 1000; for (;;); }
        return { value: body + '!' }
      })`),
      undefined,
      toError,
    )
    onTestFinished(() => thread.close())
    expect(await thread.ask('a')).toBe('a!')
    const hang = thread.ask('hang')
    const after = [thread.ask('b'), thread.ask('c')]
    await expect(hang).rejects.toThrow(/hung/)
    expect(await Promise.all(after)).toEqual(['b!', 'c!'])
  })

  test('that hangs while the clock of the machine jumps is replaced', async () => {
    const thread = new Thread(
      script(`serveThread((body) => {
        if (body === 'hang') for (;;);
        return { value: body }
      }, { timeoutMs: 100 })
      Date.now = () => 8.64e15`),
      undefined,
      toError,
    )
    onTestFinished(() => thread.close())
    await expect(thread.ask('hang')).rejects.toThrow(/hung/)
  })

  test('serves the others however many requests in a row have ended theirs', async () => {
    const thread = new Thread(
      script(`serveThread((body) => {
        if (body === 'end') process.exit(1)
        return { value: body + '!' }
      })`),
      undefined,
      toError,
    )
    onTestFinished(() => thread.close())
    for (let ended = 0; ended < THREAD_FAILURES_MAX + 2; ended += 1)
      await expect(thread.ask('end')).rejects.toThrow(/gone/)
    expect(await thread.ask('a')).toBe('a!')
  })

  test('that cannot start fails its requests instead of restarting for ever', async () => {
    const thread = new Thread(script('process.exit(1)'), undefined, toError)
    onTestFinished(() => thread.close())
    await expect(thread.ask('a')).rejects.toThrow(/gone/)
  })

  test('returns errors with their text', async () => {
    const thread = new Thread(
      script(`serveThread(() => { throw new Error('no') })`),
      undefined,
      toError,
    )
    onTestFinished(() => thread.close())
    await expect(thread.ask('a')).rejects.toThrow('no')
  })
})
