// Patience with an end: what a promise gives, or undefined if it takes longer. What takes longer
// goes on all the same.

export async function withTimeout<T>(
  promise: Promise<T>,
  patienceMs: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
