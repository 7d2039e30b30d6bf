/** The request and the response of `POST /v1/analytics/projects`: the metrics of several projects, one row each. */
import type { components } from '../../generated/openapi.js'
import type { WithoutForms } from './api.js'

type Schemas = components['schemas']
type Body = Omit<WithoutForms<Schemas['ProjectsQueryRequest']>, 'order_by'> & {
  readonly order_by: Schemas['ResolvedProjectsQuery']['order_by']
}
type Optional = 'projects' | 'org' | 'interval' | 'time_zone' | 'compare' | 'compare_align'

/** A validated request: every default is filled in. */
export type AcrossRequest = Required<Omit<Body, Optional>> & Pick<Body, Optional>
export type AcrossResponse = Schemas['ProjectsQueryResponse']
type ResponseRow = Schemas['ProjectsRow']
/** The metrics of a project: those of the same query with the key of the project. */
export type AcrossRow = ResponseRow & Required<Pick<ResponseRow, 'metrics'>>
/** A project whose query is refused, such as for its retention. These rows come last. */
export type RefusedRow = ResponseRow & Required<Pick<ResponseRow, 'error'>>
export type AcrossBucket = Schemas['ProjectsBucket']
