/** Converts a stored project into the project of the API. */
import type { Project } from '../contract/api.js'
import type { StoredProject } from './project.js'

/** Returns the fields in the order of the contract. */
export const presentProject = (project: StoredProject, firstEventAt: Date | null): Project => ({
  id: project.id,
  name: project.name,
  domain: project.domain,
  token: project.token,
  createdAt: project.createdAt.toISOString(),
  firstEventAt: firstEventAt?.toISOString() ?? null,
  hasPublicDashboard: project.hasPublicDashboard,
  excludedIps: project.excludedIps,
  excludedCountries: project.excludedCountries,
})
