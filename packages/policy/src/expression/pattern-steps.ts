// The size of a pattern with its repetitions expanded, computed from its text alone:
// `(a{0,30}){0,30}` is 15 characters and 900 steps. RE2 walks every step for every character, and
// is slow to compile them, so this is checked before RE2 sees the pattern.

const TOKEN = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g

export function patternSteps(pattern: string): number {
  const open: number[] = []
  let sum = 0
  let last = 0
  for (const [token, low, high] of pattern.matchAll(TOKEN)) {
    if (low !== undefined) {
      const times = Math.max(Number(low), Number(high || low), 1)
      sum += last * (times - 1)
      last *= times
    } else if (token === '(') {
      open.push(sum)
      sum = 0
    } else if (token === ')') {
      last = sum + 1
      sum = (open.pop() ?? 0) + last
    } else {
      last = 1
      sum++
    }
  }
  return open.reduce((total, part) => total + part, sum)
}
