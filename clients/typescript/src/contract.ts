/** Short names for the types of the contract. */
import type { components } from '../../../generated/openapi.js'

type Schemas = components['schemas']

export type QueryRequest = Schemas['AnalyticsQueryRequest']
export type QueryResponse = Schemas['AnalyticsQueryResponse']
export type Row = Schemas['Row']
export type Filter = Schemas['Filter']
export type Metric = Schemas['Metric']
export type ValuesRequest = Schemas['ValuesRequest']
export type ValuesResponse = Schemas['ValuesResponse']
export type BatchRequest = Schemas['BatchRequest']
export type BatchResponse = Schemas['BatchResponse']
export type RetentionRequest = Schemas['RetentionRequest']
export type RetentionResponse = Schemas['RetentionResponse']
export type FunnelRequest = Schemas['FunnelRequest']
export type FunnelResponse = Schemas['FunnelResponse']
export type ExplainResponse = Schemas['ExplainResponse']
export type RetentionExplainResponse = Schemas['RetentionExplainResponse']
export type FunnelExplainResponse = Schemas['FunnelExplainResponse']
export type Project = Schemas['Project']
export type ErrorResponse = Schemas['ErrorResponse']
export type ErrorCode = Schemas['ErrorCode']
export type FieldError = Schemas['FieldError']
export type { components, paths } from '../../../generated/openapi.js'
