/** Stored projects without a store. */
import { DEFAULT_SETTINGS, type StoredProject } from '../../../src/projects/project.js'

type Given = Pick<StoredProject, 'id' | 'name' | 'domain' | 'token' | 'createdAt'>

/** Describes a project on the home alone, whose settings are the default where none are given. */
export const toStoredProject = (given: Given & Partial<StoredProject>): StoredProject => ({
  ...DEFAULT_SETTINGS,
  formerToken: null,
  isDeleting: false,
  hasCutSessions: false,
  shards: [],
  formerWidths: [],
  isWidening: false,
  ...given,
})
