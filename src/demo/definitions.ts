/** The goal and the segment of the demo's shop. */
import type { Cluster } from '../cluster/cluster.js'
import type { Definition } from '../model/definitions.js'
import { listDefinitionVersions, writeDefinition } from '../projects/definitions.js'

const DEFINITIONS: readonly Definition[] = [
  {
    kind: 'goal',
    name: 'purchase',
    filters: [{ field: 'event:name', operator: 'is', value: ['purchase'] }],
    value: 'event:prop:amount',
  },
  {
    kind: 'segment',
    name: 'mobile-de',
    filters: [
      { field: 'country', operator: 'is', value: ['DE'] },
      { field: 'device_type', operator: 'is', value: ['mobile'] },
    ],
    value: null,
  },
]

/** Defines them, unless the project has or had goals or segments. */
export async function defineOfDemo({ home }: Cluster, projectId: string): Promise<void> {
  const { writer } = home.store
  if ((await listDefinitionVersions(writer, projectId)).length > 0) return
  for (const definition of DEFINITIONS) {
    await writeDefinition(writer, projectId, { definition, isDeleted: false, version: 1 })
  }
}
