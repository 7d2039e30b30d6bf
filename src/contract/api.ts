/** Short names for the types generated from the query contract. Only this file imports them. */
import type { components } from '../../generated/openapi.js'

type Schemas = components['schemas']

/** The members that have an object form, or whose items have one, as the arrays and texts that mean the same. */
interface ShortForms {
  readonly date_range: Schemas['ResolvedDateRange']
  readonly compare: Schemas['ResolvedCompare']
  readonly group_by: readonly Schemas['ResolvedGrouping'][]
  readonly then_by: Schemas['ResolvedThenBy']
  readonly order_by: readonly Schemas['OrderPair'][]
  readonly field: Schemas['ResolvedValueField']
}
/** A body as the validation leaves it: without object forms. */
export type WithoutForms<Body> = {
  readonly [Member in keyof Body]: Member extends keyof ShortForms
    ? ShortForms[Member]
    : Body[Member]
}

type QueryBody = WithoutForms<Schemas['AnalyticsQueryRequest']>
/** The members of a query that have no default: a response repeats them only if they were sent, in this order. */
export const OPTIONAL_MEMBERS = [
  'include',
  'time_zone',
  'compare',
  'compare_align',
  'then_by',
  'group_limit',
  'having',
] as const satisfies readonly (keyof QueryBody)[]
export type OptionalMember = (typeof OPTIONAL_MEMBERS)[number]

/** A validated request: every default is filled in. */
export type AnalyticsQueryRequest = Required<Omit<QueryBody, OptionalMember | 'limit'>> &
  Pick<QueryBody, OptionalMember> & { readonly limit: number }
/** A validated request for all rows, which are streamed. */
export type StreamedQueryRequest = Omit<AnalyticsQueryRequest, 'limit'> & { readonly limit: 'all' }
export type AnalyticsQueryResponse = Schemas['AnalyticsQueryResponse']
type ValuesBody = WithoutForms<Schemas['ValuesRequest']>
/** The members of a request for values that have no default. */
type OptionalOfValues = Pick<ValuesBody, 'filters' | 'filtersOperator' | 'time_zone'>
/** A validated request for the values of a field: every default is filled in. */
export type ValuesRequest = Required<Omit<ValuesBody, keyof OptionalOfValues>> & OptionalOfValues
export type ValuesResponse = Schemas['ValuesResponse']
type RetentionBody = WithoutForms<Schemas['RetentionRequest']>
/** A validated request for retention: every default but that of `intervals`, which depends on the period, is filled in. */
export type RetentionRequest = Required<Omit<RetentionBody, 'intervals'>> &
  Pick<RetentionBody, 'intervals'>
export type RetentionResponse = Schemas['RetentionResponse']
export type Cohort = Schemas['Cohort']
type FunnelBody = WithoutForms<Schemas['FunnelRequest']>
/** A validated request for a funnel: every default is filled in, also those of its steps. */
export type FunnelRequest = Required<Omit<FunnelBody, 'steps' | 'time_zone'>> &
  Pick<FunnelBody, 'time_zone'> & {
    readonly steps: readonly Required<Schemas['FunnelStep']>[]
  }
export type FunnelResponse = Schemas['FunnelResponse']
export type FunnelStepResult = Schemas['FunnelStepResult']
type JourneysBody = WithoutForms<Schemas['JourneysRequest']>
type Anchor = Required<Schemas['FunnelStep']>
/** A validated request for journeys: every default is filled in, also those of its anchor. */
export type JourneysRequest = Required<Omit<JourneysBody, 'from' | 'to' | 'time_zone'>> &
  Pick<JourneysBody, 'time_zone'> & { readonly from?: Anchor; readonly to?: Anchor }
export type JourneysResponse = Schemas['JourneysResponse']
export type JourneyRow = Schemas['JourneyRow']
export type JourneyKind = JourneyRow['kind']
type ExportBody = WithoutForms<Schemas['ExportRequest']>
/** A validated request for events: every default is filled in. */
export type ExportRequest = Required<Omit<ExportBody, 'limit' | 'time_zone'>> &
  Pick<ExportBody, 'limit' | 'time_zone'>
export type ExportResponse = Schemas['ExportResponse']
export type EventField = Schemas['EventField']
/** The operations that a batch can ask. */
type BatchOperation = Schemas['BatchOperation']
/** A validated batch. The bodies of its queries are not validated: each is refused on its own. */
export interface BatchRequest {
  readonly queries: readonly {
    readonly id: string
    readonly operation: BatchOperation
    readonly body: unknown
  }[]
  readonly include?: Schemas['BatchInclude']
}
export type BatchResponse = Schemas['BatchResponse']
/** How a query would be answered. */
export type ExplainResponse = Schemas['ExplainResponse']
export type DataState = Schemas['DataState']
export type RetentionExplainResponse = Schemas['RetentionExplainResponse']
export type FunnelExplainResponse = Schemas['FunnelExplainResponse']
export type JourneysExplainResponse = Schemas['JourneysExplainResponse']
export type BatchResult = Schemas['BatchResult']
export type Period = Schemas['Period']
export type Row = Schemas['QueryRow']

/** The metrics of a group in the period that a query is compared with, and their change. */
export type RowComparison = Schemas['RowComparison']

export type DateRange = ShortForms['date_range']
export type Preset = Schemas['Preset']
export type Metric = Schemas['Metric']
/** A metric over the numbers of an event property. */
export type NumericMetric = Schemas['NumericMetric']
/** A metric of a goal. With `filters`, and `value` if the goal has one, once the goal has been looked up. */
export type GoalMetric = Schemas['GoalMetric']
export type Interval = Schemas['Interval']
/** The size of the buckets of a time series. */
export type BucketSize = Schemas['BucketSize']
export type Dimension = Schemas['Dimension']
export type GroupBy = Schemas['ResolvedGrouping']
/** A dimension or property that can be a further grouping. */
export type ThenBy = Schemas['ResolvedThenByField']
export type SortDirection = Schemas['SortDirection']
/** What the clock shows, as a grouping. */
export type ClockField = Schemas['ClockField']
export type HavingOperator = Schemas['HavingOperator']

export type Filter = Schemas['QueryFilter']
export type TypedFilter = Schemas['TypedFilter']
/** A filter that compares a field, or an event property, with values. */
export type ValueFilter = Schemas['FieldFilter'] | Schemas['PropertyFilter']
export type FilterField = Schemas['FilterField']
export type FilterOperator = Schemas['FilterOperator']

export type StringOperator = Schemas['StringOperator']
export type ListOperator = Schemas['ListOperator']
export type StringClause = Schemas['StringClause']
export type ListClause = Schemas['ListClause']
export type ReferrerType = Schemas['ReferrerType']
export type Channel = Schemas['Channel']
export type DeviceType = Schemas['DeviceType']

export type Project = Schemas['Project']

/** How a response came about: computed, known, or computed together with that of an equal query. */
export type ResponseSource = Schemas['AnswerSource']

export type ErrorCode = Schemas['ErrorCode']
export type ErrorResponse = Schemas['ErrorResponse']
export type FieldError = Schemas['FieldError']
