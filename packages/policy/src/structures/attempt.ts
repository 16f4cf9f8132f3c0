// Work whose failure has one meaning: a file that is not there, a text that is not JSON.

/** What `work` returns, or `otherwise` if it throws. */
export function attempt<T, U = undefined>(work: () => T, otherwise?: U): T | U {
  try {
    return work()
  } catch {
    return otherwise as U
  }
}
