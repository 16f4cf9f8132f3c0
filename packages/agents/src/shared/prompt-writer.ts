// Who wrote a prompt: a person, another agent (its id), or a model that is no agent of ours. A type only.

export type PromptWriter = { readonly kind: 'person' | 'model' } | { readonly agent: string }
