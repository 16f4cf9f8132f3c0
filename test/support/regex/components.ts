// Strongly connected components of a graph (Tarjan), without recursion: the graphs are large.

interface Visit {
  readonly node: number
  readonly next: readonly number[]
  at: number
}

/** The components of everything that can be reached from `nodes`. */
export function findComponents(
  nodes: Iterable<number>,
  nextOf: (node: number) => readonly number[],
): number[][] {
  const index = new Map<number, number>()
  const low = new Map<number, number>()
  const onStack = new Set<number>()
  const stack: number[] = []
  const found: number[][] = []
  const visits: Visit[] = []

  const enter = (node: number): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) ?? 0)
    stack.push(node)
    onStack.add(node)
    visits.push({ node, next: nextOf(node), at: 0 })
  }
  const lower = (node: number, to: number): void => {
    low.set(node, Math.min(low.get(node) ?? 0, to))
  }
  const leave = ({ node }: Visit): void => {
    visits.pop()
    const parent = visits.at(-1)
    if (parent !== undefined) lower(parent.node, low.get(node) ?? 0)
    if (low.get(node) !== index.get(node)) return
    const component = stack.splice(stack.lastIndexOf(node))
    for (const each of component) onStack.delete(each)
    found.push(component)
  }

  for (const root of nodes) {
    if (index.has(root)) continue
    enter(root)
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const to = visit.next[visit.at++]
      if (to === undefined) leave(visit)
      else if (!index.has(to)) enter(to)
      else if (onStack.has(to)) lower(visit.node, index.get(to) ?? 0)
    }
  }
  return found
}
