// The clock of what a guest may use: processor time of the thread that runs it. A thread that waits for a core, because
// the machine is busy or stopped, uses none.

export function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
