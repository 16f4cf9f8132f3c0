// *New agent*: model, instructions, tools of the gate with their classes, budget, and files to begin with.

import { type JSX, useState } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { formatQuery, post } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { go, pathTo } from '../../route.ts'
import { useMe } from '../../session.ts'
import { Form, type FormField, type FormValues } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { TextLine } from '../../ui/text.tsx'
import { complain, showToast } from '../../ui/toasts.tsx'

interface OfferedTool {
  readonly server: string
  readonly name: string
  readonly category: string
}

const FIELDS: readonly FormField[] = [
  { name: 'model', label: 'Model', placeholder: 'anthropic:claude-sonnet-4-6' },
  { name: 'instructions', label: 'Instructions', type: 'area', placeholder: 'What it is told' },
  { name: 'maxTurns', label: 'Turns in its life', type: 'number', value: '50' },
  { name: 'maxCost', label: 'Cost in its life', placeholder: 'No limit; needs a price' },
]

export function NewAgent({ onDone }: { onDone: () => void }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="primary" onPress={() => setOpen(true)}>
        <Icon name="plus" /> New agent
      </Button>
      {isOpen && (
        <Dialog title="New agent" onClose={() => setOpen(false)}>
          <NewAgentForm onDone={onDone} onCancel={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

function NewAgentForm({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  const owner = useMe()?.owns[0] ?? 'local'
  const offered = useResource<{ tools: OfferedTool[] }>(`/agent-tools${formatQuery({ owner })}`)
  const [tools, setTools] = useState<ReadonlySet<string>>(new Set())
  const [files, setFiles] = useState<Readonly<Record<string, string>>>({})
  const create = async ({ model, instructions, maxTurns, maxCost }: FormValues) => {
    const limits = maxCost ? { limits: { maxCost: Number(maxCost) } } : {}
    const agent = {
      ...(model ? { model } : {}),
      ...(instructions ? { instructions } : {}),
      ...(maxTurns ? { maxTurns: Number(maxTurns) } : {}),
      ...limits,
      tools: [...tools],
      files,
    }
    const { id } = await post<{ id: string }>('/agents', { owner, agent })
    showToast(`created for ${owner}`)
    onDone()
    go(pathTo('agents', id))
  }
  const add = async (list: FileList | null) => {
    const read = [...(list ?? [])].map(async (file) => [file.name, await file.text()] as const)
    const added = Object.fromEntries(await Promise.all(read))
    setFiles((before) => ({ ...before, ...added }))
  }
  const toggle = (tool: string) =>
    setTools((before) => {
      const after = new Set(before)
      if (!after.delete(tool)) after.add(tool)
      return after
    })
  return (
    <Form fields={FIELDS} confirm="Create" icon="plus" onSubmit={create} onCancel={onCancel}>
      <Tools tools={offered.value?.tools ?? []} chosen={tools} onToggle={toggle} />
      <div className="row">
        <FileTrigger allowsMultiple onSelect={(list) => void add(list).catch(complain)}>
          <Button>
            <Icon name="file" /> Add text files
          </Button>
        </FileTrigger>
        <TextLine text={Object.keys(files).join(', ')} className="muted small" />
      </div>
    </Form>
  )
}

interface ToolsProps {
  readonly tools: readonly OfferedTool[]
  readonly chosen: ReadonlySet<string>
  readonly onToggle: (tool: string) => void
}

function Tools({ tools, chosen, onToggle }: ToolsProps): JSX.Element {
  return (
    <fieldset className="stack agent-tools">
      <legend>Tools of the gate</legend>
      {tools.length === 0 && <p className="muted small">none</p>}
      {tools.map(({ server, name, category }) => {
        const tool = `${server}/${name}`
        return (
          <label key={tool} className="row">
            <input type="checkbox" checked={chosen.has(tool)} onChange={() => onToggle(tool)} />
            <TextLine text={tool} className="mono small" />
            <span className="tag">{category}</span>
          </label>
        )
      })}
    </fieldset>
  )
}
