/** Texts that give the value away, the value itself first. */
export declare function formsOf(value: string): readonly string[]
export interface FoundForm {
  readonly start: number
  readonly end: number
}
/** Where one of the forms stands, in the order of the text and without overlaps. */
export declare function findForms(text: string, forms: readonly string[]): FoundForm[]
