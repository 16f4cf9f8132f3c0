// The playground: a policy, tools, a call and properties in four fields, and below them the decision with its
// explanation and what is proved. Everything runs in the browser; nothing is sent anywhere.

import { computed, defineComponent, h, reactive, type VNode } from 'vue'
import { EXAMPLE } from './example.ts'
import { explain, type PlaygroundInput } from './explain.ts'

const FIELDS: readonly { name: keyof PlaygroundInput; label: string; rows: number }[] = [
  { name: 'policy', label: 'Policy (YAML)', rows: 12 },
  { name: 'tools', label: 'Tools (JSON, as sluice scan --out writes them)', rows: 10 },
  { name: 'call', label: 'Call (JSON)', rows: 3 },
  { name: 'properties', label: 'Properties to prove (YAML)', rows: 5 },
]

export const Playground = defineComponent({
  setup() {
    const input = reactive({ ...EXAMPLE })
    const result = computed(() => explain(input))
    const field = ({ name, label, rows }: (typeof FIELDS)[number]): VNode[] => [
      h('label', { for: `playground-${name}` }, label),
      h('textarea', {
        id: `playground-${name}`,
        rows,
        spellcheck: false,
        value: input[name],
        onInput: (event: Event) => {
          input[name] = (event.target as HTMLTextAreaElement).value
        },
      }),
    ]
    return () =>
      h('div', { class: 'playground vp-raw' }, [
        ...FIELDS.flatMap(field),
        h('h2', 'The decision'),
        h('pre', { 'data-result': 'decision', 'aria-live': 'polite' }, result.value.decision),
        h('h2', 'What is proved'),
        h('pre', { 'data-result': 'proofs', 'aria-live': 'polite' }, result.value.proofs),
      ])
  },
})
