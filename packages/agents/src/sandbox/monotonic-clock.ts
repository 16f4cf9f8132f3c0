// The clock of watchdog deadlines. It is shared by all threads of the process (unlike
// `performance.now()`) and does not follow changes of the machine's time (unlike `Date.now()`): a
// clock set back must not keep a hung guest alive, nor one set forward end a healthy thread.

export function readMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}
