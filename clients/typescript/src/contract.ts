/** Short names for the types of the contract. Those of queries and their rows are in rows.ts. */
import type { components } from '../../../generated/openapi.js'

type Schemas = components['schemas']

export type Filter = Schemas['QueryFilter']
export type Metric = Schemas['Metric']
export type ValuesRequest = Schemas['ValuesRequest']
export type ValuesResponse = Schemas['ValuesResponse']
export type BatchRequest = Schemas['BatchRequest']
export type RetentionRequest = Schemas['RetentionRequest']
export type RetentionResponse = Schemas['RetentionResponse']
export type FunnelRequest = Schemas['FunnelRequest']
export type FunnelResponse = Schemas['FunnelResponse']
export type ExplainResponse = Schemas['ExplainResponse']
export type RetentionExplainResponse = Schemas['RetentionExplainResponse']
export type FunnelExplainResponse = Schemas['FunnelExplainResponse']
export type ExportRequest = Schemas['ExportRequest']
export type ExportResponse = Schemas['ExportResponse']
export type ExportedEvent = Schemas['ExportedEvent']
export type Period = Schemas['Period']
export type Project = Schemas['Project']
export type ErrorResponse = Schemas['ErrorResponse']
export type ErrorCode = Schemas['ErrorCode']
export type FieldError = Schemas['FieldError']
export type { components, paths } from '../../../generated/openapi.js'
