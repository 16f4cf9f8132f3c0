export declare class DataLock {
  #private
  private constructor()
  /** Throws an Error that says who has it. */
  static take(directory: string): DataLock
  release(): void
}
