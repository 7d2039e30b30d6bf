/** The contract of the API: the types of requests and responses. */
import type { components } from '../../../generated/openapi.js'
import type { WithoutForms } from '../../contract/api.js'

type Schemas = components['schemas']

export type QueryBody = WithoutForms<Schemas['AnalyticsQueryRequest']>
export type QueryResponse = Schemas['AnalyticsQueryResponse']
type RetentionBody = WithoutForms<Schemas['RetentionRequest']>
export type RetentionResponse = Schemas['RetentionResponse']
type ValuesBody = WithoutForms<Schemas['ValuesRequest']>
export type ValuesResponse = Schemas['ValuesResponse']
type FunnelBody = WithoutForms<Schemas['FunnelRequest']>
export type FunnelResponse = Schemas['FunnelResponse']
type JourneysBody = WithoutForms<Schemas['JourneysRequest']>
export type JourneysResponse = Schemas['JourneysResponse']
export type ProjectsBody = WithoutForms<Schemas['ProjectsQueryRequest']>
export type ProjectsResponse = Schemas['ProjectsQueryResponse']
export type BatchBody = Schemas['BatchRequest']
export type BatchResult = Schemas['BatchResult']
export type Plan = Schemas['QueryPlan']
export type Explanation =
  | Schemas['ExplainResponse']
  | Schemas['RetentionExplainResponse']
  | Schemas['FunnelExplainResponse']
  | Schemas['JourneysExplainResponse']
export type ErrorResponse = Schemas['ErrorResponse']
export type Project = Schemas['Project']
export type Row = Schemas['QueryRow']
export type MetricName = Schemas['Metric']
/** A metric of the goal that is chosen. */
export type GoalMetricName = Extract<
  Schemas['GoalFunction'],
  'conversions' | 'conversion_rate' | 'value'
>
/** A metric that the page shows. In rows, those of the goal have their own names. */
export type ShownMetric = MetricName | GoalMetricName

/** A query about the project of the page, which batches take, and the part of the page that its response is for. */
export type ProjectQuery = { readonly id: string } & (
  | { readonly operation: 'query'; readonly body: QueryBody }
  | { readonly operation: 'retention'; readonly body: RetentionBody }
  | { readonly operation: 'values'; readonly body: ValuesBody }
  | { readonly operation: 'funnel'; readonly body: FunnelBody }
  | { readonly operation: 'journeys'; readonly body: JourneysBody }
)
/** A query about all projects. */
interface OverviewQuery {
  readonly id: string
  readonly operation: 'projects'
  readonly body: ProjectsBody
}
export type Query = ProjectQuery | OverviewQuery
